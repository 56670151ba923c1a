#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef double v4 __attribute__((vector_size(32)));

typedef struct {
    int n;
    double *flow;
} economy_t;

static void *big(size_t bytes)
{
    size_t huge = (size_t)2 << 20;
    bytes = (bytes + huge - 1) / huge * huge;
    void *p = aligned_alloc(huge, bytes);
    if (!p)
        exit(1);
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ (x >> 16);
}

static economy_t survey(int n)
{
    economy_t e = {n, big((size_t)n * n * sizeof(double))};
    double unit = 1.0 / (4294967296.0 * n);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        double *row = e.flow + (size_t)i * n;
        uint32_t base = mix((uint32_t)i + 1u);
        for (int j = 0; j < n; j++)
            row[j] = unit * (double)(int32_t)(mix(base + (uint32_t)j) >> 1);
    }
    return e;
}

static double collect(v4 a)
{
    return (a[0] + a[1]) + (a[2] + a[3]);
}

static void two_rows(const double *restrict r, const double *restrict s,
                     const double *restrict x, int n, double *restrict y)
{
    v4 a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
    v4 b0 = {0}, b1 = {0}, b2 = {0}, b3 = {0};
    for (int j = 0; j < n; j += 16) {
        const v4 *p = (const v4 *)(r + j);
        const v4 *q = (const v4 *)(s + j);
        const v4 *z = (const v4 *)(x + j);
        a0 += p[0] * z[0];
        a1 += p[1] * z[1];
        a2 += p[2] * z[2];
        a3 += p[3] * z[3];
        b0 += q[0] * z[0];
        b1 += q[1] * z[1];
        b2 += q[2] * z[2];
        b3 += q[3] * z[3];
    }
    y[0] = collect((a0 + a1) + (a2 + a3));
    y[1] = collect((b0 + b1) + (b2 + b3));
}

static void demand(const economy_t *e, const double *x, double *y)
{
    int n = e->n;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i += 2) {
        const double *r = e->flow + (size_t)i * n;
        two_rows(r, r + n, x, n, y + i);
    }
}

static double normalise(double *x, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += x[i];
    double f = 1.0 / s;
    for (int i = 0; i < n; i++)
        x[i] *= f;
    return s;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    int n = 6144;
    economy_t e = survey(n);
    double *x = big(n * sizeof(double));
    double *y = big(n * sizeof(double));
    double growth = 0.0;
    for (int i = 0; i < n; i++)
        x[i] = 1.0 + (i % 10);
    normalise(x, n);
    for (int k = 1; k <= rounds; k++) {
        demand(&e, x, y);
        growth = normalise(y, n);
        double *t = x;
        x = y;
        y = t;
        if (k % 20 == 0)
            printf("round %3d  growth %.12f\n", k, growth);
    }
    double top = 0.0;
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
    printf("largest share %.12e\n", top);
    free(x);
    free(y);
    free(e.flow);
    return 0;
}
