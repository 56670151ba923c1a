#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void fill(double *v, int n) {
  for (int i = 0; i < n; i++) v[i] = 1.0 + 0.001 * ((i * 37L) % 1013);
}

static double settle(double *v, int n, double rate) {
  double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < n - n % 2; i++) {
    v[i] = v[i] * rate + 0.01 * sqrt(v[i] + exp(-v[i]));
    sum += v[i] / (1.0 + i % 5);
  }
  return sum;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 300000, rounds = argc > 2 ? atoi(argv[2]) : 4;
  double *v = malloc(n * sizeof *v), s = 0.0;
  fill(v, n);
  for (int r = 0; r < rounds; r++) s += settle(v, n, 0.98 + 0.001 * r);
  printf("checksum %.12e %.12e\n", s, v[n - 1]);
  return 0;
}
