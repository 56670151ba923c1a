#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static int n, rows;

static void exchange(double *h) {
  int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  for (int i = 0; i < n; i++) {
    MPI_Sendrecv(&h[n + i], 1, MPI_DOUBLE, up, i, &h[(size_t)(rows + 1) * n + i], 1, MPI_DOUBLE, down, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&h[(size_t)rows * n + i], 1, MPI_DOUBLE, down, n + i, &h[i], 1, MPI_DOUBLE, up, n + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void move(const double *h, const double *old, double *next) {
  for (int r = 1; r <= rows; r++)
    for (int i = 1; i < n - 1; i++) {
      size_t c = (size_t)r * n + i;
      next[c] = 1.99 * h[c] - 0.99 * old[c] + 0.1 * (h[c - 1] + h[c + 1] + h[c - n] + h[c + n] - 4.0 * h[c]);
    }
}

int main(int argc, char **argv) {
  n = argc > 1 ? atoi(argv[1]) : 600;
  int steps = argc > 2 ? atoi(argv[2]) : 60;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int first = (int)((long)n * rank / size);
  rows = (int)((long)n * (rank + 1) / size) - first;
  size_t cells = (size_t)(rows + 2) * n;
  double *h = calloc(cells, sizeof *h), *old = calloc(cells, sizeof *h), *next = calloc(cells, sizeof *h);
  for (int r = 1; r <= rows; r++)
    for (int i = 0; i < n; i++) h[(size_t)r * n + i] = old[(size_t)r * n + i] = exp(-1e-3 * ((first + r - n / 3) * (first + r - n / 3) + (i - n / 2) * (i - n / 2)));
  for (int t = 0; t < steps; t++) {
    exchange(h);
    move(h, old, next);
    double *w = old;
    old = h;
    h = next;
    next = w;
  }
  double mine = 0.0, all;
  for (int r = 1; r <= rows; r++)
    for (int i = 0; i < n; i++) mine += h[(size_t)r * n + i] * h[(size_t)r * n + i];
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.12e\n", all);
  MPI_Finalize();
  return 0;
}
