#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double push(int particles, double seed) {
  double s = seed;
  for (int p = 0; p < particles; p++)
    for (int k = 0; k < 40; k++) s += 1.0 / (1.0 + s * s + k);
  return s;
}

int main(int argc, char **argv) {
  int rank, size, steps = 150;
  double total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int mine = 25000;
  for (int s = 0; s < steps; s++) {
    double local = push(mine, 0.001 * s), sum;
    MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    total += sum > 0;
  }
  if (rank == 0) printf("checksum %.8e\n", total);
  MPI_Finalize();
  return 0;
}
