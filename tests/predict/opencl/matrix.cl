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
