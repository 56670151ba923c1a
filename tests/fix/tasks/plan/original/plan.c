#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void renew(double *c, int n, int t) {
  for (int k = 0; k < n; k++) c[k] = 1.0 / (1.0 + k + 0.01 * t);
}

static void share_plan(double *c, int n) {
  if (rank == 0) {
    for (int to = 1; to < size; to++)
      for (int k = 0; k < n; k++) MPI_Ssend(&c[k], 1, MPI_DOUBLE, to, 3, MPI_COMM_WORLD);
  } else {
    for (int k = 0; k < n; k++) MPI_Recv(&c[k], 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static double apply(const double *c, int n) {
  double s = 0.0;
  for (int r = 0; r < 20; r++) {
    double x = 0.9 + 0.005 * (rank * 20 + r), p = 0.0;
    for (int k = n - 1; k >= 0; k--) p = p * x + c[k];
    s += p;
  }
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4000, steps = argc > 2 ? atoi(argv[2]) : 80;
  double *c = malloc(n * sizeof *c), s = 0.0, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int t = 0; t < steps; t++) {
    if (rank == 0) renew(c, n, t);
    share_plan(c, n);
    s += apply(c, n);
  }
  MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.12e\n", all);
  MPI_Finalize();
  return 0;
}
