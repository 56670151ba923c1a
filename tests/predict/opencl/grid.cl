__kernel void heat(__global const float *now, __global float *next, const int nx, const int ny, const float k)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    const int i = y * nx + x;
    next[i] = now[i] + k * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4.0f * now[i]);
}
