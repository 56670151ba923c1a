#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef double complex cplx;

typedef struct {
    int nodes;
    double *g;
    double *c;
} Network;

static void network_init(Network *w, int nodes)
{
    w->nodes = nodes;
    w->g = calloc((size_t)nodes * nodes, sizeof(double));
    w->c = calloc((size_t)nodes * nodes, sizeof(double));
    for (int i = 0; i < nodes; i++)
        for (int j = 0; j < nodes; j++) {
            int d = (i * 37 + j * 37 + i * j) % 101;
            w->g[i * nodes + j] = i == j ? nodes + 2.0 : -0.005 * d;
            w->c[i * nodes + j] = i == j ? 1.0 : 0.0002 * ((i + j) % 13);
        }
}

static void network_free(Network *w)
{
    free(w->g);
    free(w->c);
}

static void stamp(const Network *w, double omega, cplx *y)
{
    int n = w->nodes;
    for (int k = 0; k < n * n; k++)
        y[k] = w->g[k] + I * omega * w->c[k];
}

static void row_minus(cplx *restrict row, const cplx *restrict pivot, cplx f, int from, int n)
{
    double fr = creal(f), fi = cimag(f);
    const double *p = (const double *)pivot;
    double *r = (double *)row;
#pragma omp parallel for schedule(static)
    for (int j = from; j < n; j++) {
        double a = p[2 * j], b = p[2 * j + 1];
        r[2 * j] -= fr * a - fi * b;
        r[2 * j + 1] -= fr * b + fi * a;
    }
}

static void eliminate(cplx *y, cplx *rhs, int n)
{
    for (int k = 0; k < n; k++) {
        cplx inv = 1.0 / y[(size_t)k * n + k];
        for (int i = k + 1; i < n; i++) {
            cplx f = y[(size_t)i * n + k] * inv;
            row_minus(y + (size_t)i * n, y + (size_t)k * n, f, k + 1, n);
            rhs[i] -= f * rhs[k];
        }
    }
}

static void substitute(const cplx *y, cplx *rhs, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        cplx s = rhs[i];
        for (int j = i + 1; j < n; j++)
            s -= y[(size_t)i * n + j] * rhs[j];
        rhs[i] = s / y[(size_t)i * n + i];
    }
}

static double response(const Network *w, double omega)
{
    int n = w->nodes;
    cplx *y = malloc(sizeof(cplx) * n * n);
    cplx *v = calloc(n, sizeof(cplx));
    stamp(w, omega, y);
    v[0] = 1.0;
    eliminate(y, v, n);
    substitute(y, v, n);
    double gain = cabs(v[n - 1]);
    free(y);
    free(v);
    return gain;
}

static void sweep(const Network *w, int points, double *gain)
{
    for (int p = 0; p < points; p++)
        gain[p] = response(w, 10.0 * (p + 1) / points);
}

int main(int argc, char **argv)
{
    int nodes = argc > 1 ? atoi(argv[1]) : 120;
    int points = argc > 2 ? atoi(argv[2]) : 100;
    Network w;
    double *gain = malloc(sizeof(double) * points);
    network_init(&w, nodes);
    sweep(&w, points, gain);
    double sum = 0.0, peak = 0.0;
    for (int p = 0; p < points; p++) {
        sum += gain[p];
        peak = fmax(peak, gain[p]);
    }
    printf("points %d peak %.12e mean %.12e\n", points, peak, sum / points);
    network_free(&w);
    free(gain);
    return 0;
}
