template <int N> __global__ void blend(double *y, const double *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double w[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        w[k] = x[(i + k * 37) % n];
    __syncthreads();
    double s = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        s += w[k] * w[N - 1 - k] + w[(k * 7) % N];
    y[i] = s;
}

__global__ void axpy(float *y, const float *x, float a, int n)
{
    __shared__ float t[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n)
        y[i] += a * t[255 - threadIdx.x];
}

template __global__ void blend<24>(double *, const double *, int);
