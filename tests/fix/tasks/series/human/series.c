#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TERMS = 24 };

static void coefficients(double *c, unsigned s) {
  for (int k = 0; k < TERMS; k++) {
    s = s * 1664525u + 1013904223u;
    c[k] = 0.5 + (s >> 16) / 65536.0;
  }
}

static double evaluate(const double *c, double x) {
  double s = 0.0;
  for (int k = TERMS - 1; k >= 0; k--) s = s * x + c[k];
  return s;
}

static double scan(const double *c, double *v, int n, int round) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    v[i] = evaluate(c, 0.05 + 0.9 * (i + 0.5) / n + 0.001 * round);
    if (v[i] > most) most = v[i];
  }
  return most;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 60000, rounds = argc > 2 ? atoi(argv[2]) : 24;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 21u;
  double c[TERMS], *v = malloc(n * sizeof *v), s = 0.0;
  coefficients(c, seed);
  for (int r = 0; r < rounds; r++) s += scan(c, v, n, r) + v[n / 2];
  printf("checksum %.12e\n", s);
  return 0;
}
