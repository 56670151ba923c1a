#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  double *rho, *temp, *press, *rate;
} Gas;

static void gas_init(Gas *g, int n, unsigned seed) {
  g->n = n;
  g->rho = malloc(n * sizeof(double));
  g->temp = malloc(n * sizeof(double));
  g->press = malloc(n * sizeof(double));
  g->rate = malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) {
    g->rho[i] = 1.0 + 0.001 * (i % 300);
    g->temp[i] = 2.0 + 0.01 * ((i + seed % 97) % 97);
  }
}

static void state(Gas *g) {
  for (int i = 0; i < g->n; i++) {
    double t = g->temp[i];
    g->press[i] = g->rho[i] * t + 0.01 * pow(g->rho[i], 3.0) - 0.002 * pow(g->rho[i], 1.5);
    g->rate[i] = 1e-3 * pow(t, 4.0) / (1.0 + pow(t, 0.5)) + 8.0 * pow(t, -0.25);
  }
}

static void cool(Gas *g, double dt) {
  for (int i = 0; i < g->n; i++) g->temp[i] -= dt * (g->rate[i] - 6.0) * 0.1;
}

static void mixing(Gas *g) {
  double prev = g->rho[0];
  for (int i = 1; i + 1 < g->n; i++) {
    double c = g->rho[i];
    g->rho[i] = 0.5 * c + 0.25 * (prev + g->rho[i + 1]);
    prev = c;
  }
}

static double total(const Gas *g) {
  double s = 0.0;
  for (int i = 0; i < g->n; i++) s += g->press[i] + g->temp[i];
  return s;
}

int main(int argc, char **argv) {
  Gas g;
  int steps = argc > 2 ? atoi(argv[2]) : 180;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0u;
  double s = 0.0;
  gas_init(&g, argc > 1 ? atoi(argv[1]) : 200000, seed);
  for (int t = 0; t < steps; t++) {
    state(&g);
    cool(&g, 0.01);
    mixing(&g);
    s += total(&g);
  }
  printf("checksum %.11e\n", s);
  return 0;
}
