#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int nang, nlev;
  double *tau, *src, *flux;
  double *mu;
} Column;

static void column_init(Column *c, int nang, int nlev) {
  c->nang = nang;
  c->nlev = nlev;
  c->tau = malloc(nlev * sizeof(double));
  c->src = malloc(nlev * sizeof(double));
  c->flux = calloc(nlev, sizeof(double));
  c->mu = malloc(nang * sizeof(double));
  for (int k = 0; k < nlev; k++) {
    c->tau[k] = 0.01 + 0.002 * (k % 23);
    c->src[k] = 1.0 + 0.01 * (k % 41);
  }
  for (int a = 0; a < nang; a++) c->mu[a] = (a + 0.5) / nang;
}

static void transport(Column *c, double albedo, double phase) {
  for (int a = 0; a < c->nang; a++) {
    double ray = 0.0;
    for (int k = 0; k < c->nlev; k++) {
      double g = pow(c->mu[a], 0.37) * sin(phase + c->mu[a]) + pow(albedo, 1.3);
      double t = 1.0 - c->tau[k] * g * 0.1;
      ray = ray * t + c->src[k] * (1.0 - t);
      c->flux[k] += ray * c->mu[a];
    }
  }
}

static double heating(Column *c) {
  double h = 0.0;
  for (int k = 1; k < c->nlev; k++) {
    double d = (c->flux[k] - c->flux[k - 1]) / c->tau[k];
    c->src[k] += 1e-6 * d;
    h += fabs(d);
  }
  for (int k = 0; k < c->nlev; k++) c->flux[k] *= 0.5;
  return h;
}

int main(int argc, char **argv) {
  Column c;
  int steps = argc > 1 ? atoi(argv[1]) : 250;
  double h = 0.0;
  column_init(&c, 32, argc > 2 ? atoi(argv[2]) : 5000);
  for (int t = 0; t < steps; t++) {
    transport(&c, 0.3 + 0.001 * (t % 10), 0.01 * t);
    h += heating(&c);
  }
  printf("checksum %.12e\n", h);
  return 0;
}
