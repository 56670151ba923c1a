#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int rows, cols;
  double *v;
} Matrix;

static Matrix make(int rows, int cols, unsigned seed) {
  Matrix m = {rows, cols, malloc((size_t)rows * cols * sizeof(double))};
  for (size_t k = 0; k < (size_t)rows * cols; k++) m.v[k] = 1.0 + ((k + seed) % 1009) * 1e-3;
  return m;
}

static void scale(Matrix *a, const Matrix *b, double f) {
  for (int i = 0; i < a->rows; i++)
    for (int j = 0; j < a->cols; j++)
      a->v[(size_t)i * a->cols + j] = 0.999 * a->v[(size_t)i * a->cols + j] + f * b->v[(size_t)i * b->cols + j];
}

static void accumulate(Matrix *a, const Matrix *b) {
  for (int i = 1; i < a->rows; i++)
    for (int j = 0; j < a->cols; j++)
      a->v[(size_t)i * a->cols + j] += 0.5 * b->v[(size_t)i * b->cols + j];
}

static double trace(const Matrix *a) {
  double s = 0.0;
  for (int i = 0; i < a->rows && i < a->cols; i++) s += a->v[(size_t)i * a->cols + i];
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3072;
  int steps = argc > 2 ? atoi(argv[2]) : 16;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1u;
  Matrix a = make(n, n, seed), b = make(n, n, seed);
  double s = 0.0;
  for (int t = 0; t < steps; t++) {
    scale(&a, &b, 1e-3 * t);
    accumulate(&a, &b);
    s += trace(&a);
  }
  for (size_t k = 0; k < (size_t)n * n; k++) s += a.v[k] * (double)(k % 5);
  printf("checksum %.12e\n", s);
  return 0;
}
