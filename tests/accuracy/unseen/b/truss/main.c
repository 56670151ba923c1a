#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DOF 24

typedef struct {
    int bays;
    double (*self)[DOF * DOF];
    double (*link)[DOF * DOF];
    double (*flex)[DOF * DOF];
} Frame;

static void block_mv(const double *a, const double *x, double *y, double scale)
{
#pragma omp parallel for
    for (int r = 0; r < DOF; r++) {
        double s = 0.0;
        for (int c = 0; c < DOF; c++)
            s += a[r * DOF + c] * x[c];
        y[r] += scale * s;
    }
}

static void invert(const double *a, double *inv)
{
    double w[DOF][2 * DOF];
    for (int r = 0; r < DOF; r++)
        for (int c = 0; c < DOF; c++) {
            w[r][c] = a[r * DOF + c];
            w[r][DOF + c] = r == c;
        }
    for (int p = 0; p < DOF; p++) {
        double d = 1.0 / w[p][p];
        for (int c = 0; c < 2 * DOF; c++)
            w[p][c] *= d;
        for (int r = 0; r < DOF; r++) {
            double f = w[r][p];
            if (r == p || f == 0.0)
                continue;
            for (int c = 0; c < 2 * DOF; c++)
                w[r][c] -= f * w[p][c];
        }
    }
    for (int r = 0; r < DOF; r++)
        for (int c = 0; c < DOF; c++)
            inv[r * DOF + c] = w[r][DOF + c];
}

static Frame frame_new(int bays)
{
    Frame f = {bays, NULL, NULL, NULL};
    f.self = malloc(sizeof(*f.self) * bays);
    f.link = malloc(sizeof(*f.link) * bays);
    f.flex = malloc(sizeof(*f.flex) * bays);
    for (int b = 0; b < bays; b++) {
        for (int r = 0; r < DOF; r++)
            for (int c = 0; c < DOF; c++) {
                int d = abs(r - c);
                f.self[b][r * DOF + c] = d ? -1.0 / (d * d + 1.0) : 6.0 + 0.1 * (b % 5);
                f.link[b][r * DOF + c] = d < 2 ? -0.7 / (1 + d) : 0.0;
            }
        invert(f.self[b], f.flex[b]);
    }
    return f;
}

static void residual(const Frame *f, const double *load, const double *u, double *r)
{
    for (int b = 0; b < f->bays; b++) {
        double *rb = r + b * DOF;
        for (int k = 0; k < DOF; k++)
            rb[k] = load[b * DOF + k];
        block_mv(f->self[b], u + b * DOF, rb, -1.0);
        if (b > 0)
            block_mv(f->link[b - 1], u + (b - 1) * DOF, rb, -1.0);
        if (b + 1 < f->bays)
            block_mv(f->link[b], u + (b + 1) * DOF, rb, -1.0);
    }
}

static void correct(const Frame *f, const double *r, double *u)
{
    for (int b = 0; b < f->bays; b++)
        block_mv(f->flex[b], r + b * DOF, u + b * DOF, 0.1);
}

static double norm(const double *v, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += v[i] * v[i];
    return sqrt(s);
}

int main(int argc, char **argv)
{
    int bays = argc > 1 ? atoi(argv[1]) : 600;
    int sweeps = argc > 2 ? atoi(argv[2]) : 400;
    int n = bays * DOF;
    Frame f = frame_new(bays);
    double *load = malloc(sizeof(double) * n);
    double *u = calloc(n, sizeof(double));
    double *r = malloc(sizeof(double) * n);
    for (int i = 0; i < n; i++)
        load[i] = 1.0 + 0.5 * sin(0.01 * i);
    for (int s = 1; s <= sweeps; s++) {
        residual(&f, load, u, r);
        correct(&f, r, u);
        if (s % (sweeps / 4) == 0)
            printf("sweep %d residual %.6e\n", s, norm(r, n));
    }
    printf("deflection %.10f\n", norm(u, n));
    free(load);
    free(u);
    free(r);
    free(f.self);
    free(f.link);
    free(f.flex);
    return 0;
}
