#include <math.h>

double cell(const double *grid, int n, int i, int j);

static double flux(const double *a, int k)
{
    return a[k] * exp(-a[k]);
}

void scale(double *out, const double *in, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = 2.0 * in[i];
}

double total(const double *a, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

double column(const double *grid, int n, int j)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += cell(grid, n, i, j);
    return sum;
}

int find(const int *keys, int key)
{
    int i = 0;
    while (keys[i] != key)
        i++;
    return i;
}

void sweep(double *a, int n)
{
    for (int i = 1; i < n; i++)
        a[i] += 0.5 * a[i - 1];
}

double react(double *a, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += flux(a, i);
    return sum;
}
