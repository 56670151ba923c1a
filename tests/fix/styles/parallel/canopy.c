#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct canopy {
  int n;
  double *temp, *next, *flux, *leaf;
};

static void plant(struct canopy *c, int n) {
  c->n = n;
  c->temp = malloc(n * sizeof *c->temp);
  c->next = malloc(n * sizeof *c->next);
  c->flux = calloc(n, sizeof *c->flux);
  c->leaf = malloc(n * sizeof *c->leaf);
  for (int i = 0; i < n; i++) {
    c->temp[i] = c->next[i] = 285.0 + (i * 31 % 97) * 0.1;
    c->leaf[i] = 0.5 + (i * 17 % 41) * 0.1;
  }
}

static double radiation(double t, double leaf, double sun) {
  double lw = 5.67e-8 * pow(t, 4.0);
  double gap = exp(-0.5 * leaf);
  double vap = 611.0 * exp(17.27 * (t - 273.15) / (t - 35.85));
  return sun * (1.0 - gap) - lw * gap - 0.01 * vap / log(t);
}

static void advance(struct canopy *c, double sun) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 1; i < c->n - 1; i++)
      c->next[i] = c->temp[i] + 0.2 * (c->temp[i - 1] - 2.0 * c->temp[i] + c->temp[i + 1]);
#pragma omp single
    {
      for (int i = 0; i < c->n; i++)
        c->flux[i] = radiation(c->next[i], c->leaf[i], sun);
    }
#pragma omp for
    for (int i = 1; i < c->n - 1; i++)
      c->temp[i] = c->next[i] + 1e-4 * c->flux[i];
  }
}

int main(int argc, char **argv) {
  struct canopy c;
  int hours = argc > 2 ? atoi(argv[2]) : 240;
  double s = 0.0;
  plant(&c, argc > 1 ? atoi(argv[1]) : 200000);
  for (int h = 0; h < hours; h++) {
    double a = sin(0.2618 * h);
    advance(&c, a > 0.0 ? 800.0 * a : 0.0);
  }
  for (int i = 0; i < c.n; i++) s += c.temp[i];
  printf("checksum %.10e\n", s);
  return 0;
}
