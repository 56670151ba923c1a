/* Kernels that were written when the model was finished: nothing was fitted to them or chosen by them. */

__kernel void bytes_product(__global const char *a, __global const char *b, __global int *out, const int length)
{
    const int i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < length; k++) sum += a[i * length + k] * b[k];
    out[i] = sum;
}

#define ORDER(a, b) { const uchar t = min(a, b); b = max(a, b); a = t; }

__kernel void median(__global const uchar *in, __global uchar *out, const int nx, const int ny)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    uchar v[9];
    for (int k = 0; k < 9; k++) v[k] = in[(y + k / 3 - 1) * nx + x + k % 3 - 1];
    for (int end = 8; end > 3; end--)
        for (int k = 0; k < end; k++) ORDER(v[k], v[k + 1])
    out[y * nx + x] = v[4];
}

__kernel void resample(__global const float *in, __global float *out, const int nx, const int ny, const float turn)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float u = x * cos(turn) - y * sin(turn), v = x * sin(turn) + y * cos(turn);
    const float fu = floor(u), fv = floor(v);
    const int iu = clamp((int)fu, 0, nx - 2), iv = clamp((int)fv, 0, ny - 2);
    const float du = u - fu, dv = v - fv;
    const float top = mix(in[iv * nx + iu], in[iv * nx + iu + 1], du);
    const float bottom = mix(in[(iv + 1) * nx + iu], in[(iv + 1) * nx + iu + 1], du);
    out[y * nx + x] = mix(top, bottom, dv);
}

__kernel void grey(__global const uchar4 *in, __global uchar *out)
{
    const size_t i = get_global_id(0);
    const uchar4 p = in[i];
    out[i] = (uchar)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
}

/* A step of Gauss's elimination below row k. */
__kernel void eliminate(__global double *a, const int n, const int k)
{
    const int column = get_global_id(0), row = get_global_id(1);
    if (row <= k || column <= k) return;
    a[row * n + column] -= a[row * n + k] / a[k * n + k] * a[k * n + column];
}

__kernel void bell_curve(__global float2 *out, const uint seed)
{
    uint s = get_global_id(0) * 2654435761u ^ seed;
    float2 sum = (float2)(0.0f);
    for (int k = 0; k < 8; k++) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        const float u = (s >> 8) * (1.0f / 16777216.0f) + 1e-7f;
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        const float a = 6.2831853f * (s >> 8) * (1.0f / 16777216.0f), r = sqrt(-2.0f * log(u));
        sum += (float2)(r * cos(a), r * sin(a));
    }
    out[get_global_id(0)] = sum;
}

/* The later a work-item, the more it adds up. */
__kernel void triangle(__global const float *in, __global float *out)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k <= i; k++) sum += in[k] * in[i - k];
    out[i] = sum;
}

#define SIDE 16

__kernel void smooth_local(__global const float *in, __global float *out, const int nx, const int ny)
{
    __local float tile[SIDE + 2][SIDE + 2];
    const int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    for (int k = ly * SIDE + lx; k < (SIDE + 2) * (SIDE + 2); k += SIDE * SIDE) {
        const int u = clamp((int)get_group_id(0) * SIDE + k % (SIDE + 2) - 1, 0, nx - 1);
        const int v = clamp((int)get_group_id(1) * SIDE + k / (SIDE + 2) - 1, 0, ny - 1);
        tile[k / (SIDE + 2)][k % (SIDE + 2)] = in[v * nx + u];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) sum += tile[ly + dy][lx + dx];
    out[y * nx + x] = sum / 9.0f;
}

__kernel void components(__global const int *from, __global const int *to, __global const int *label,
                         __global int *next, const int edges)
{
    const int e = get_global_id(0);
    if (e >= edges) return;
    const int a = label[from[e]], b = label[to[e]];
    if (a < b) atomic_min(&next[to[e]], a);
    else if (b < a) atomic_min(&next[from[e]], b);
}

/* Explicit Euler steps of a reaction of three substances, as chemistry codes take them: one cell each. */
__kernel void reactions(__global double4 *cell, const int steps, const double dt)
{
    double4 c = cell[get_global_id(0)];
    for (int k = 0; k < steps; k++) {
        const double forth = 0.04 * c.x, back = 1.0e2 * c.y * c.z, third = 3.0e1 * c.y * c.y;
        c.x += dt * (back - forth);
        c.y += dt * (forth - back - third);
        c.z += dt * third;
    }
    cell[get_global_id(0)] = c;
}
