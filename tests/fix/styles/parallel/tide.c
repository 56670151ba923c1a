#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HARBOURS 4096

typedef double series[HARBOURS];

static series moon, sun, wind, river;

static double iterate(double x, int rounds) {
  while (rounds-- > 0) x = 0.999 * x + 0.001 * cos(x);
  return x;
}

static int effort(int i, int where) {
  return i / (HARBOURS / 4) == where ? 160 : 8;
}

static void simulate(int days) {
#pragma omp parallel
  for (int d = 0; d < days; d++) {
#pragma omp for schedule(static)
    for (int i = 0; i < HARBOURS; i++) moon[i] = iterate(moon[i] + 0.01 * d, effort(i, 0));
#pragma omp for schedule(static)
    for (int i = 0; i < HARBOURS; i++) sun[i] = iterate(sun[i] + 0.02 * d, effort(i, 1));
#pragma omp for schedule(static)
    for (int i = 0; i < HARBOURS; i++) wind[i] = iterate(wind[i] - 0.01 * d, effort(i, 2));
#pragma omp for schedule(static)
    for (int i = 0; i < HARBOURS; i++) river[i] = iterate(river[i] - 0.02 * d, effort(i, 3));
  }
}

int main(int argc, char **argv) {
  int days = argc > 1 ? atoi(argv[1]) : 120;
  double level = 0.0;
  for (int i = 0; i < HARBOURS; i++) {
    moon[i] = 0.001 * i;
    sun[i] = 0.5 + 0.0005 * i;
    wind[i] = 0.25 * (i % 7);
    river[i] = 0.1 * (i % 11);
  }
  simulate(days);
  for (int i = 0; i < HARBOURS; i++) level += moon[i] + sun[i] + wind[i] + river[i];
  printf("checksum %.9e\n", level);
  return 0;
}
