__kernel void heat(__global const float *now, __global float *next, const int nx, const int ny, const float k)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    const int i = y * nx + x;
    next[i] = now[i] + k * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4.0f * now[i]);
}

__kernel void wave(__global const double *before, __global const double *now, __global double *next, const int nx, const int ny, const int nz)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    const int plane = nx * ny, i = z * plane + y * nx + x;
    const double around = now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] + now[i - plane] + now[i + plane];
    next[i] = 2.0 * now[i] - before[i] + 0.1 * (around - 6.0 * now[i]);
}

__kernel void blur(__global const float *in, __global float *out, __constant float *weight, const int nx, const int ny)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            const int u = clamp(x + dx, 0, nx - 1), v = clamp(y + dy, 0, ny - 1);
            sum += weight[(dy + 2) * 5 + dx + 2] * in[v * nx + u];
        }
    out[y * nx + x] = sum;
}

__kernel void life(__global const uchar *now, __global uchar *next, const int nx, const int ny)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int left = (x + nx - 1) % nx, right = (x + 1) % nx;
    const int up = (y + ny - 1) % ny * nx, row = y * nx, down = (y + 1) % ny * nx;
    const int alive = now[up + left] + now[up + x] + now[up + right] + now[row + left] + now[row + right] + now[down + left] +
                      now[down + x] + now[down + right];
    next[row + x] = alive == 3 || (alive == 2 && now[row + x]);
}
