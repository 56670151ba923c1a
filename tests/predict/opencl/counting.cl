__kernel void histogram(__global const uint *value, __global uint *bins, const uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&bins[value[i] & 255]);
}

/* A histogram of each group first, in local memory. */
__kernel void histogram_local(__global const uint *value, __global uint *bins, const uint n)
{
    __local uint mine[256];
    for (uint k = get_local_id(0); k < 256; k += get_local_size(0)) mine[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[value[i] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = get_local_id(0); k < 256; k += get_local_size(0)) atomic_add(&bins[k], mine[k]);
}

__kernel void bitonic(__global uint *key, const uint step, const uint length)
{
    const uint i = get_global_id(0);
    const uint low = 2 * step * (i / step) + i % step, high = low + step;
    const uint a = key[low], b = key[high];
    const bool up = (low / length) % 2 == 0;
    if ((a > b) == up) {
        key[low] = b;
        key[high] = a;
    }
}

__kernel void hash_words(__global const uint *in, __global uint *out, const int rounds)
{
    const uint i = get_global_id(0);
    uint h = in[i];
    for (int k = 0; k < rounds; k++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h = rotate(h, 7u) + (uint)k;
    }
    out[i] = h;
}

__kernel void crc(__global const uchar *data, __global uint *out, __constant uint *table, const int length)
{
    const int i = get_global_id(0);
    uint c = 0xffffffffu;
    for (int k = 0; k < length; k++) c = table[(c ^ data[i * length + k]) & 255] ^ (c >> 8);
    out[i] = ~c;
}

__kernel void find_word(__global const uchar *text, __constant uchar *word, __global uint *found, const int length)
{
    const int i = get_global_id(0);
    int k = 0;
    while (k < length && text[i + k] == word[k]) k++;
    if (k == length) atomic_inc(found);
}
