#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double q, x, y;
} Particle;

static void create(Particle *p, int n, unsigned s) {
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    p[i].q = 0.5 + (s >> 20) / 4096.0;
    p[i].x = (s & 0xfff) / 4096.0;
    p[i].y = ((s >> 8) & 0xfff) / 4096.0;
  }
}

static void moments(const Particle *p, int n, double *sum) {
  double a = 0.0, b = 0.0, c = 0.0;
#pragma omp parallel for reduction(+ : a, b, c)
  for (int i = 0; i < n; i++) {
    double f = p[i].q * (1.0 + p[i].x * p[i].y);
    a += f;
    b += f * p[i].x;
    c += f * p[i].y;
  }
  sum[0] += a;
  sum[1] += b;
  sum[2] += c;
}

static void drift(Particle *p, int n, double dt) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    p[i].x += dt * p[i].y;
    p[i].y -= dt * p[i].x;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1500000, steps = argc > 2 ? atoi(argv[2]) : 6;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 9u;
  Particle *p = malloc(n * sizeof *p);
  double sum[3] = {0.0, 0.0, 0.0};
  create(p, n, seed);
  for (int t = 0; t < steps; t++) {
    moments(p, n, sum);
    drift(p, n, 0.01);
  }
  printf("checksum %.12e %.12e %.12e\n", sum[0], sum[1], sum[2]);
  return 0;
}
