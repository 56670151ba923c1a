__kernel void histogram(__global const uint *value, __global uint *bins, const uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&bins[value[i] & 255]);
}
