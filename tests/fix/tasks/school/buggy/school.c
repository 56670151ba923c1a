#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double *x, *v;
  double (*history)[14];
} School;

static School school_make(int n, unsigned s) {
  School f = {malloc(n * sizeof(double)), malloc(n * sizeof(double)), calloc(n, sizeof *f.history)};
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    f.x[i] = (s >> 8) / 16777216.0;
    f.v[i] = 0.01 * ((int)(s >> 28) - 8);
    f.history[i][i % 13] = f.x[i];
  }
  return f;
}

static double align(double *x, double *v, int n, double pull) {
  double mean = 0.0, e = 0.0;
  for (int i = 0; i < n; i++) mean += v[i];
  mean /= n;
  for (int i = 0; i < n; i++) {
    v[i] += pull * (mean - v[i]) - 0.001 * x[i];
    x[i] += 0.01 * v[i];
    e += v[i] * v[i];
  }
  return e;
}

static double past(const School *f, int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 14; k++) s += f->history[i][k] * (k + 1);
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 400000, steps = argc > 2 ? atoi(argv[2]) : 40;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 3u;
  School f = school_make(n, seed);
  double e = 0.0;
  for (int t = 0; t < steps; t++) e += align(f.x, f.v, n, 0.02);
  printf("checksum %.12e %.12e\n", e, past(&f, n));
  return 0;
}
