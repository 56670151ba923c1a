__kernel void triad(__global const float *b, __global const float *c, __global float *a, const float s, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) a[i] = b[i] + s * c[i];
}
