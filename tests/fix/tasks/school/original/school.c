#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double x, v;
  double history[14];
} Fish;

static Fish *school_make(int n, unsigned s) {
  Fish *f = calloc(n, sizeof *f);
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    f[i].x = (s >> 8) / 16777216.0;
    f[i].v = 0.01 * ((int)(s >> 28) - 8);
    f[i].history[i % 14] = f[i].x;
  }
  return f;
}

static double align(Fish *f, int n, double pull) {
  double mean = 0.0, e = 0.0;
  for (int i = 0; i < n; i++) mean += f[i].v;
  mean /= n;
  for (int i = 0; i < n; i++) {
    f[i].v += pull * (mean - f[i].v) - 0.001 * f[i].x;
    f[i].x += 0.01 * f[i].v;
    e += f[i].v * f[i].v;
  }
  return e;
}

static double past(const Fish *f, int n) {
  double s = 0.0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 14; k++) s += f[i].history[k] * (k + 1);
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 400000, steps = argc > 2 ? atoi(argv[2]) : 40;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 3u;
  Fish *f = school_make(n, seed);
  double e = 0.0;
  for (int t = 0; t < steps; t++) e += align(f, n, 0.02);
  printf("checksum %.12e %.12e\n", e, past(f, n));
  return 0;
}
