__kernel void csr_product(__global const int *first, __global const int *column, __global const float *value,
                          __global const float *x, __global float *y, const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0.0f;
    for (int k = first[row]; k < first[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
}

__kernel void ell_product(__global const int *column, __global const float *value, __global const float *x,
                          __global float *y, const int rows, const int width)
{
    const int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < width; k++) sum += value[k * rows + row] * x[column[k * rows + row]];
    y[row] = sum;
}

__kernel void gather(__global const int *index, __global const float *in, __global float *out)
{
    const int i = get_global_id(0);
    out[i] = in[index[i]];
}

__kernel void lower_bound(__global const int *sorted, __global const int *key, __global int *place, const int n)
{
    const int i = get_global_id(0), wanted = key[i];
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    place[i] = low;
}
