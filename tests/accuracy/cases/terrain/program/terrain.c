#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double height[N][N], slope[N][N];

static void fill(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) height[i][j] = (i * 7 + j * 3) % 101;
}

static void gradients(void) {
  for (int j = 1; j < N - 1; j++)
    for (int i = 1; i < N - 1; i++)
      slope[i][j] = 0.5 * (height[i + 1][j] - height[i - 1][j]) + 0.1 * slope[i][j];
}

int main(int argc, char **argv) {
  int passes = argc > 1 ? atoi(argv[1]) : 20;
  double sum = 0;
  fill();
  for (int p = 0; p < passes; p++) gradients();
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) sum += slope[i][j];
  printf("checksum %.10e\n", sum);
  return 0;
}
