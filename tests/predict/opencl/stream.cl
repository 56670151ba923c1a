__kernel void triad(__global const float *b, __global const float *c, __global float *a, const float s, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) a[i] = b[i] + s * c[i];
}

/* Every `step`-th element, so that a line of the cache gives one value. */
__kernel void strided_copy(__global const float *in, __global float *out, const uint step, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) out[i] = in[i * step];
}

__kernel void scale4(__global const float4 *in, __global float4 *out, const float s)
{
    const size_t i = get_global_id(0);
    out[i] = in[i] * s + (float4)(1.0f);
}

/* A polynomial of degree `degree` in double precision: little data, much arithmetic. */
__kernel void polynomial(__global const double *x, __global double *y, __constant double *c, const int degree)
{
    const int i = get_global_id(0);
    const double v = x[i];
    double p = c[degree];
    for (int k = degree - 1; k >= 0; k--) p = p * v + c[k];
    y[i] = p;
}
