#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 20000

static double row[CELLS], halo[CELLS];

static void swap_halo(int rank, int step) {
  int other = 1 - rank;
  MPI_Sendrecv(row, CELLS, MPI_DOUBLE, other, step, halo, CELLS, MPI_DOUBLE, other, step, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int rank, steps = 40;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < CELLS; i++) row[i] = i % 31 + rank;
  for (int s = 0; s < steps; s++) {
    swap_halo(rank, s);
    for (int t = 0; t < 10; t++)
      for (int i = 0; i < CELLS; i++) row[i] = 0.9 * row[i] + 0.1 * halo[i];
  }
  double sum = 0;
  for (int i = 0; i < CELLS; i++) sum += row[i];
  if (rank == 0) printf("checksum %.8e\n", sum);
  MPI_Finalize();
  return 0;
}
