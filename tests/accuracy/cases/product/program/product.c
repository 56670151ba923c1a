#include <stdio.h>
#include <stdlib.h>

#define N 768
#define T 64

static double a[N][N], b[N][N], c[N][N];

static void multiply(void) {
  for (int ii = 0; ii < N; ii += T)
    for (int kk = 0; kk < N; kk += T)
      for (int i = ii; i < ii + T; i++)
        for (int k = kk; k < kk + T; k++) {
          double x = a[i][k];
          for (int j = 0; j < N; j++) c[i][j] += x * b[k][j];
        }
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 12;
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = (i + j) % 7, b[i][j] = (i * j) % 5;
  for (int r = 0; r < rounds; r++) multiply();
  for (int i = 0; i < N; i++) sum += c[i][(i * 7) % N];
  printf("checksum %.8e\n", sum);
  return 0;
}
