#define TILE 16

__kernel void product(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

__kernel void product_tiled(__global const float *a, __global const float *b, __global float *c, const int n)
{
    __local float left[TILE][TILE], right[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += TILE) {
        left[y][x] = a[row * n + t + x];
        right[y][x] = b[(t + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}

__kernel void transpose(__global const float *in, __global float *out, const int nx, const int ny)
{
    const int x = get_global_id(0), y = get_global_id(1);
    out[x * ny + y] = in[y * nx + x];
}

__kernel void transpose_tiled(__global const float *in, __global float *out, const int nx, const int ny)
{
    __local float tile[TILE][TILE + 1];
    const int lx = get_local_id(0), ly = get_local_id(1);
    tile[ly][lx] = in[get_global_id(1) * nx + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int x = get_group_id(1) * TILE + lx, y = get_group_id(0) * TILE + ly;
    out[y * ny + x] = tile[lx][ly];
}

__kernel void row_times_vector(__global const float *a, __global const float *x, __global float *y, const int n)
{
    const int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * x[k];
    y[row] = sum;
}

/* One step of the shortest paths over vertex k. */
__kernel void paths(__global int *d, const int n, const int k)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int way = d[y * n + k] + d[k * n + x];
    if (way < d[y * n + x]) d[y * n + x] = way;
}
