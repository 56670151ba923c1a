// Kernels whose instructions, sectors and passes can be told by arithmetic; the test knows them by name.
#include <cstdio>
#include <cstdlib>

#define FMA(x) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x))

__global__ void counted(int n, float *out)
{
    float x = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < n; i++) FMA(x);
    out[threadIdx.x] = x;
}
__global__ void uneven(float *out)
{
    float x = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < (int)threadIdx.x % 32; i++) FMA(x);
    out[threadIdx.x] = x;
}
__global__ void half_of(float *out)
{
    float x = threadIdx.x;
    if (threadIdx.x % 2) FMA(x);
    out[threadIdx.x] = x;
}
template <class T> __global__ void loaded(const T *from, int stride, int offset, T *to)
{
    T v = from[threadIdx.x * stride + offset];
    if (((unsigned char *)&v)[0] == 123) *to = v;
}
__global__ void scattered(const int *from, const int *where, int *to)
{
    int v = from[where[threadIdx.x]];
    if (v == 12345) *to = v;
}
template <class T> __global__ void banks(int stride, T *to)
{
    extern __shared__ char memory[];
    T v = ((T *)memory)[(threadIdx.x * stride) % 1024];
    if (((unsigned char *)&v)[0] == 123) *to = v;
}
__global__ void gathered(int places, int stride, int *to) { atomicAdd(&to[threadIdx.x % places * stride], (int)threadIdx.x); }
// By one warp, so that the order is that of the addresses.
__global__ void twice(const float4 *from, int n, float4 *to)
{
    float sum = 0;
    for (int round = 0; round < 2; round++)
        for (int i = threadIdx.x; i < n; i += 32) sum += __ldcg(&from[i]).x;
    if (sum == 12345) to[0].x = sum;
}
__global__ void filled(float4 *to, int n)
{
    for (int i = threadIdx.x; i < n; i += 32) to[i] = make_float4(1, 2, 3, 4);
}
__global__ void wild(int *from, int *to)
{
    to[threadIdx.x] = from[threadIdx.x * 1000003ll] + *(int *)(threadIdx.x * 0x0123456789abcdefll);
}
__global__ void endless(volatile int *flag)
{
    while (!*flag) {}
}
// Too long to be followed, but it can be told how long.
__global__ void prolonged(long long n, int m, float *out)
{
    float x = threadIdx.x;
#pragma unroll 1
    for (long long i = 0; i < n; i++) {
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < m; j++) FMA(x);
    }
    out[threadIdx.x] = x;
}
// Too many blocks to be followed, and a kernel whose loops run to what they wrote.
__global__ void bounded(int *end)
{
    end[blockIdx.x * 64 + threadIdx.x] = 8 * (blockIdx.x * 64 + threadIdx.x);
}
__global__ void walked(const int *end, float *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    float x = 1;
#pragma unroll 1
    for (int k = end[i]; k < end[i + 1]; k++) FMA(x);
    out[i] = x;
}
// Each block waits for the others: all must be under way.
__global__ void met(int *arrived)
{
    if (!threadIdx.x) {
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < (int)gridDim.x) {}
    }
    __syncthreads();
}

int main(int count, char **words)
{
    char *a, *b;
    int *where, places[32];
    for (int i = 0; i < 32; i++) places[i] = i * 1000 % 4096;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&where, sizeof places);
    cudaMemset(a, 0, 1 << 20);
    cudaMemset(b, 0, 1 << 20);
    cudaMemcpy(where, places, sizeof places, cudaMemcpyHostToDevice);
    if (count > 1) {
        if (words[1][0] == 'e') endless<<<4, 32>>>((int *)a);
        else if (words[1][0] == 'w') {
            int *end, n = 1 << 22;
            cudaMalloc((void **)&end, 64ll * n * sizeof *end);
            cudaMalloc((void **)&b, 64ll * n * sizeof(float));
            bounded<<<n, 64>>>(end);
            walked<<<n - 1, 64>>>(end, (float *)b);
        } else prolonged<<<2, 64>>>(10000000000ll, 7, (float *)a);
        return 0;
    }
    counted<<<3, 64>>>(100, (float *)b);
    uneven<<<1, 64>>>((float *)b);
    half_of<<<1, 64>>>((float *)b);
    for (int stride : {0, 1, 2, 3, 8, 32}) loaded<float><<<1, 32>>>((float *)a, stride, 0, (float *)b);
    loaded<float><<<1, 32>>>((float *)a, 1, 1, (float *)b);
    loaded<double><<<1, 32>>>((double *)a, 1, 0, (double *)b);
    loaded<float4><<<1, 32>>>((float4 *)a, 1, 0, (float4 *)b);
    loaded<char><<<1, 32>>>(a, 1, 0, b);
    loaded<float><<<1, 20>>>((float *)a, 1, 0, (float *)b);
    scattered<<<1, 32>>>((int *)a, where, (int *)b);
    for (int stride : {0, 1, 2, 4, 17, 32}) banks<float><<<1, 32, 8192>>>(stride, (float *)b);
    for (int stride : {0, 1, 2, 16}) banks<double><<<1, 32, 8192>>>(stride, (double *)b);
    for (int stride : {0, 1}) banks<float4><<<1, 32, 8192>>>(stride, (float4 *)b);
    for (int places : {1, 4, 32}) gathered<<<3, 32>>>(places, 1, (int *)b);
    gathered<<<3, 32>>>(4, 128, (int *)b);
    for (int bytes : {16384, 262144}) twice<<<1, 32>>>((float4 *)a, bytes / 16, (float4 *)b);
    filled<<<1, 32>>>((float4 *)b, 262144 / 16);
    met<<<8, 64>>>((int *)b + 100000);
    wild<<<1, 32>>>((int *)a, (int *)b);
    puts("end");
    return 0;
}
