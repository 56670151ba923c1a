#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2400

static double light[ROWS];

static void cast(void) {
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < ROWS; i++) {
    double s = 0;
    for (int j = 0; j < i; j++) s += 1.0 / (1.0 + (i - j) * (double)(i - j));
    light[i] += s;
  }
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 260;
  double sum = 0;
  for (int s = 0; s < steps; s++) cast();
  for (int i = 0; i < ROWS; i++) sum += light[i];
  printf("checksum %.8e\n", sum);
  return 0;
}
