#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  double *x, *y;
} Table;

static Table table_make(int n) {
  Table t = {n, malloc(n * sizeof(double)), malloc(n * sizeof(double))};
  double x = 0.0;
  for (int i = 0; i < n; i++) {
    t.x[i] = x;
    t.y[i] = sin(3.0 * x) + 0.1 * x;
    x += 1.0 / n * (1.0 + 0.3 * (i % 3 - 1));
  }
  return t;
}

static double lookup(const Table *t, double x) {
  int k = 0, above = t->n - 1;
  while (above - k > 1) {
    int middle = (k + above) / 2;
    if (t->x[middle] <= x)
      k = middle;
    else
      above = middle;
  }
  double f = (x - t->x[k]) / (t->x[k + 1] - t->x[k]);
  return t->y[k] + f * (t->y[k + 1] - t->y[k]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4000, queries = argc > 2 ? atoi(argv[2]) : 200000;
  unsigned s = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 11u;
  Table t = table_make(n);
  double sum = 0.0;
  for (int q = 0; q < queries; q++) {
    s = s * 1664525u + 1013904223u;
    sum += lookup(&t, (s >> 8) / 16777216.0);
  }
  printf("checksum %.12e\n", sum);
  return 0;
}
