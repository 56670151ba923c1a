#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 96 };

static void fill(double *m, int n, unsigned s) {
  for (int k = 0; k < n * n; k++) {
    s = s * 1664525u + 1013904223u;
    m[k] = (s >> 8) * (1.0 / 16777216.0) - 0.5;
  }
}

static void multiply(double *restrict c, const double *restrict a, const double *restrict b, int n) {
  for (int u = 0; u < n; u += BLOCK)
    for (int v = 0; v < n; v += BLOCK) {
      int below = u + BLOCK < n ? u + BLOCK : n, beside = v + BLOCK < n ? v + BLOCK : n;
      for (int i = 0; i + 3 < n; i += 4)
        for (int k = u; k < below; k++) {
          double f = a[i * n + k], g = a[(i + 1) * n + k], h = a[(i + 2) * n + k], e = a[(i + 3) * n + k];
          for (int j = v; j < beside; j++) {
            c[i * n + j] += f * b[k * n + j];
            c[(i + 1) * n + j] += g * b[k * n + j];
            c[(i + 2) * n + j] += h * b[k * n + j];
            c[(i + 3) * n + j] += e * b[k * n + j];
          }
        }
      for (int i = n / 4 * 4; i < n; i++)
        for (int k = u; k < below; k++)
          for (int j = v; j < beside; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 960, rounds = argc > 2 ? atoi(argv[2]) : 2;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1u;
  size_t bytes = (size_t)n * n * sizeof(double);
  double *a = malloc(bytes), *b = malloc(bytes), *c = calloc(1, bytes), s = 0.0;
  fill(a, n, seed);
  fill(b, n, seed + 9u);
  for (int r = 0; r < rounds; r++) multiply(c, a, b, n);
  for (int k = 0; k < n * n; k++) s += c[k] * c[k];
  printf("checksum %.12e\n", s);
  return 0;
}
