#include <stdio.h>
#include <stdlib.h>

static int escape(double x, double y, int most) {
  double u = 0.0, v = 0.0;
  int k = 0;
  while (k < most && u * u + v * v < 4.0) {
    double w = u * u - v * v + x;
    v = 2.0 * u * v + y;
    u = w;
    k++;
  }
  return k;
}

static long survey(int *count, int n, int most, double shift) {
  long inside = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : inside)
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      int k = escape(-2.2 + 3.0 * i / n, -3.4 + shift + 3.2 * j / n, most);
      count[j * n + i] = k;
      inside += k == most;
    }
  return inside;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 900, most = argc > 2 ? atoi(argv[2]) : 1500;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0u;
  int *count = malloc((size_t)n * n * sizeof *count);
  long inside = survey(count, n, most, 1e-4 * (seed % 1000)), sum = 0;
  for (int c = 0; c < n * n; c++) sum += (long)count[c] * (1 + c % 7);
  printf("checksum %ld %ld\n", inside, sum);
  return 0;
}
