__kernel void block_sums(__global const float *in, __global float *out, __local float *part, const uint n)
{
    const uint l = get_local_id(0);
    float sum = 0.0f;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (l < step) part[l] += part[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}

__kernel void scan_local(__global const uint *in, __global uint *out, __local uint *a, __local uint *b)
{
    const uint l = get_local_id(0), n = get_local_size(0);
    a[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < n; step *= 2) {
        b[l] = l >= step ? a[l] + a[l - step] : a[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        __local uint *t = a;
        a = b;
        b = t;
    }
    out[get_global_id(0)] = a[l];
}

/* Each work-item adds up a stretch of its own. */
__kernel void stretches(__global const double *in, __global double *out, const int length)
{
    const int i = get_global_id(0);
    double sum = 0.0;
    for (int k = 0; k < length; k++) sum += in[i * length + k];
    out[i] = sum;
}
