/* heat.c: the temperature of a plate that conducts heat and radiates it away (our own example, public domain).
   ./heat N STEPS [SEED] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double conductivity = 0.2;
static const double emissivity = 1.7e-13;
static const double surroundings = 293.0;

static void heat_up(double *plate, int n, unsigned seed) {
  for (int i = 0; i < n * n; i++) {
    seed = seed * 1664525u + 1013904223u;
    plate[i] = 300.0 + 500.0 * (seed >> 8) / 16777216.0;
  }
}

static void conduct(const double *now, double *next, int n) {
  for (int column = 1; column < n - 1; column++)
    for (int row = 1; row < n - 1; row++) {
      int at = row * n + column;
      next[at] = now[at] + conductivity * (now[at - 1] + now[at + 1] + now[at - n] + now[at + n] - 4.0 * now[at]);
    }
}

static void radiate(double *plate, int n) {
  for (int i = 0; i < n * n; i++)
    plate[i] -= emissivity * (pow(plate[i], 4.0) - pow(surroundings, 4.0));
}

static double heat_in(const double *plate, int n) {
  double sum = 0.0;
  for (int i = 0; i < n * n; i++)
    sum += plate[i];
  return sum;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1500;
  int steps = argc > 2 ? atoi(argv[2]) : 20;
  unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
  double *now = malloc(sizeof *now * n * n), *next = malloc(sizeof *next * n * n);
  if (!now || !next)
    return 1;
  heat_up(now, n, seed);
  for (int i = 0; i < n * n; i++)
    next[i] = now[i];
  for (int step = 0; step < steps; step++) {
    conduct(now, next, n);
    radiate(next, n);
    double *other = now;
    now = next;
    next = other;
  }
  printf("heat %.12g, in the middle %.12g\n", heat_in(now, n), now[(n / 2) * n + n / 2]);
  free(now);
  free(next);
  return 0;
}
