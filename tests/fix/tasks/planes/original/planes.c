#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int planes, rows;
enum { WIDTH = 640 };

static void fill(double *a) {
  for (long k = 0; k < (long)planes * rows * WIDTH; k++) a[k] = 1.0 + 0.01 * (k % 113);
}

static void sweep(double *b, const double *a, double f) {
#pragma omp parallel for schedule(static)
  for (int p = 0; p < planes; p++)
    for (int r = 0; r < rows; r++) {
      const double *in = a + ((long)p * rows + r) * WIDTH;
      double *out = b + ((long)p * rows + r) * WIDTH;
      out[0] = in[0];
      out[WIDTH - 1] = in[WIDTH - 1];
      for (int i = 1; i < WIDTH - 1; i++) {
        double d = in[i + 1] - in[i - 1];
        out[i] = in[i] + f * (in[i - 1] - 2.0 * in[i] + in[i + 1]) / sqrt(1.0 + d * d);
      }
    }
}

static double total(const double *a) {
  double s = 0.0;
  for (long k = 0; k < (long)planes * rows * WIDTH; k++) s += a[k] * (1 + k % 3);
  return s;
}

int main(int argc, char **argv) {
  planes = argc > 1 ? atoi(argv[1]) : 1;
  rows = argc > 2 ? atoi(argv[2]) : 900;
  int steps = argc > 3 ? atoi(argv[3]) : 20;
  double *a = malloc(sizeof(double) * planes * rows * WIDTH), *b = malloc(sizeof(double) * planes * rows * WIDTH);
  fill(a);
  for (int t = 0; t < steps; t++) {
    for (int k = 0; k < 5; k++) {
      sweep(b, a, 0.1 + 0.01 * k);
      double *w = a;
      a = b;
      b = w;
    }
  }
  printf("checksum %.12e\n", total(a));
  return 0;
}
