#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void norms(const double *v, int count, int length, double *out) {
  for (int k = 0; k < count; k++) {
    double s = 0.0, all;
    for (int i = 0; i < length; i++) s += v[(size_t)k * length + i] * v[(size_t)k * length + i];
    MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    out[k] = sqrt(all);
  }
}

static void scale(double *v, int count, int length, const double *by) {
  for (int k = 0; k < count; k++)
    for (int i = 0; i < length; i++) v[(size_t)k * length + i] *= 1.0 + 0.1 / by[k];
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 3000, steps = argc > 2 ? atoi(argv[2]) : 60, length = 48;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *v = malloc((size_t)count * length * sizeof *v), *by = malloc(count * sizeof *by), s = 0.0;
  for (int k = 0; k < count * length; k++) v[k] = 0.5 + 0.001 * ((k * 7 + rank * 13) % 101);
  for (int t = 0; t < steps; t++) {
    norms(v, count, length, by);
    scale(v, count, length, by);
    for (int k = 0; k < count; k++) s += by[k] / (1 + k % 3);
  }
  if (rank == 0) printf("checksum %.12e\n", s);
  MPI_Finalize();
  return 0;
}
