#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  double *x, *y, *z, *q;
  double *phi;
  double *vx;
} System;

static double uniform(unsigned long *s) {
  *s = *s * 6364136223846793005UL + 1442695040888963407UL;
  return (double)(*s >> 11) / 9007199254740992.0;
}

static void system_init(System *s, int n, unsigned long seed) {
  s->n = n;
  s->x = malloc(n * sizeof(double));
  s->y = malloc(n * sizeof(double));
  s->z = malloc(n * sizeof(double));
  s->q = malloc(n * sizeof(double));
  s->phi = calloc(n, sizeof(double));
  s->vx = calloc(n, sizeof(double));
  for (int i = 0; i < n; i++) {
    s->x[i] = uniform(&seed);
    s->y[i] = uniform(&seed);
    s->z[i] = uniform(&seed);
    s->q[i] = uniform(&seed) - 0.5;
  }
}

static double pair_potential(System *s) {
  double total = 0.0;
  int n = s->n;
#pragma omp parallel for schedule(dynamic, 32) reduction(+ : total)
  for (int i = 1; i < n; i++) {
    double acc = 0.0;
    for (int j = 1; j < i; j++) {
      double dx = s->x[i] - s->x[j];
      double dy = s->y[i] - s->y[j];
      double dz = s->z[i] - s->z[j];
      double r2 = dx * dx + dy * dy + dz * dz + 1e-4;
      acc += s->q[j] / sqrt(r2);
    }
    s->phi[i] = acc;
    total += s->q[i] * acc;
  }
  return total;
}

static double field_energy(const System *s) {
  double e = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : e)
  for (int i = 0; i < s->n; i++) {
    double a = 0.0;
    for (int k = 1; k <= 400; k++)
      a += s->x[i] / (k + s->y[i] * s->y[i]);
    e += a;
  }
  return e;
}

static void advance(System *s, double dt) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < s->n; i++) {
    s->vx[i] += dt * s->q[i] * s->phi[i];
    s->x[i] += dt * s->vx[i];
    s->x[i] -= floor(s->x[i]);
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 12000;
  int steps = argc > 2 ? atoi(argv[2]) : 20;
  System s;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 12345u;
  double e = 0.0, f = 0.0;
  system_init(&s, n, seed);
  for (int t = 0; t < steps; t++) {
    e += pair_potential(&s);
    f += field_energy(&s);
    advance(&s, 1e-6);
  }
  printf("checksum %.9e %.9e\n", e, f);
  return 0;
}
