#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  double *x, *r, *p, *q;
} Krylov;

static void krylov_init(Krylov *k, int n) {
  k->n = n;
  k->x = calloc(n, sizeof(double));
  k->r = malloc(n * sizeof(double));
  k->p = malloc(n * sizeof(double));
  k->q = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) k->r[i] = k->p[i] = 1.0 + 0.01 * (i % 19);
}

static void product(const Krylov *k) {
  int n = k->n;
#pragma omp parallel for if (n > 50000)
  for (int i = 0; i < n; i++) {
    double left = i > 0 ? k->p[i - 1] : 0.0, right = i + 1 < n ? k->p[i + 1] : 0.0;
    k->q[i] = 2.4 * k->p[i] - left - right;
  }
}

static double inner(const double *a, const double *b, int n) {
  double s = 0.0;
#pragma omp parallel for if (n > 50000)
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  return s;
}

static void update(double *y, const double *x, double f, int n) {
#pragma omp parallel for if (n > 50000)
  for (int i = 0; i < n; i++) y[i] += f * x[i];
}

static void direction(Krylov *k, double beta) {
#pragma omp parallel for if (k->n > 50000)
  for (int i = 0; i < k->n; i++) k->p[i] = k->r[i] + beta * k->p[i];
}

static double solve(Krylov *k, int iters) {
  double rr = inner(k->r, k->r, k->n);
  for (int t = 0; t < iters; t++) {
    product(k);
    double alpha = rr / (inner(k->p, k->q, k->n) + 1e-300);
    update(k->x, k->p, alpha, k->n);
    update(k->r, k->q, -alpha, k->n);
    double rn = inner(k->r, k->r, k->n);
    direction(k, rn / (rr + 1e-300));
    rr = rn;
  }
  return rr;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 600;
  int systems = argc > 2 ? atoi(argv[2]) : 4000;
  double s = 0.0;
  Krylov k;
  krylov_init(&k, n);
  for (int c = 0; c < systems; c++) {
    for (int i = 0; i < n; i++) {
      k.x[i] = 0.0;
      k.r[i] = k.p[i] = 1.0 + 0.01 * ((i + c) % 19);
    }
    solve(&k, 25);
    s += inner(k.x, k.x, n);
  }
  printf("checksum %.11e\n", s);
  return 0;
}
