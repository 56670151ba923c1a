#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  double *cur, *next, *k;
} Field;

static void field_init(Field *f, int n) {
  f->n = n;
  f->cur = malloc(sizeof(double) * n * n);
  f->next = malloc(sizeof(double) * n * n);
  f->k = malloc(sizeof(double) * n * n);
#pragma omp parallel for schedule(static)
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      f->cur[j * n + i] = f->next[j * n + i] = sin(0.01 * i) * cos(0.02 * j);
      f->k[j * n + i] = 0.1 + 0.05 * ((i ^ j) & 3);
    }
}

static void diffuse(Field *f, int iters) {
  int n = f->n;
  for (int t = 0; t < iters; t++) {
    const double *a = f->cur, *k = f->k;
    double *b = f->next;
#pragma omp parallel for schedule(static)
    for (int j = 1; j < n - 1; j++)
      for (int i = 1; i < n - 1; i++) {
        int c = j * n + i;
        double lap = a[c - 1] + a[c + 1] + a[c - n] + a[c + n] - 4.0 * a[c];
        double g = a[c + 1] - a[c - 1], h = a[c + n] - a[c - n];
        double den = 1.0 + 0.25 * (g * g + h * h);
        b[c] = a[c] + k[c] * lap / den;
      }
    double *w = f->cur;
    f->cur = f->next;
    f->next = w;
  }
}

static double norm(const Field *f) {
  double s = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : s)
  for (int c = 0; c < f->n * f->n; c++) s += f->cur[c] * f->cur[c];
  return sqrt(s);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 600;
  int blocks = argc > 2 ? atoi(argv[2]) : 40;
  Field f;
  double e = 0.0;
  field_init(&f, n);
  for (int b = 0; b < blocks; b++) {
    diffuse(&f, 100);
    e += norm(&f);
  }
  printf("checksum %.11e\n", e);
  return 0;
}
