#include <stdio.h>
#include <stdlib.h>

static double *matrix(int n, unsigned seed) {
  double *m = malloc((size_t)n * n * sizeof *m);
  for (size_t k = 0; k < (size_t)n * n; k++) {
    seed = seed * 1664525u + 1013904223u;
    m[k] = (seed >> 8) * (1.0 / 16777216.0) - 0.5;
  }
  return m;
}

static void multiply(double *c, const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0.0;
      for (int k = 0; k < n; k++) s += a[(size_t)i * n + k] * b[(size_t)k * n + j];
      c[(size_t)i * n + j] = s;
    }
}

static double norm(const double *c, int n) {
  double s = 0.0;
  for (size_t k = 0; k < (size_t)n * n; k++) s += c[k] * c[k];
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 600;
  unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1u;
  double *a = matrix(n, seed), *b = matrix(n, seed + 7u), *c = matrix(n, 0);
  multiply(c, a, b, n);
  printf("checksum %.12e %.12e\n", norm(c, n), c[(size_t)n * n - 1]);
  return 0;
}
