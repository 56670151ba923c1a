#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static double solve(int k, int round) {
  double x = 1.0 + 1e-3 * round, y = 0.5;
  for (int i = 0; i < 20 * k; i++) {
    y += 1e-4 * (x - y * y);
    x -= 1e-4 * (y - 0.5);
  }
  return x + y;
}

static void work_through(int tasks, int round, double *done) {
  for (int k = 0; k < tasks; k++) done[k] = 0.0;
  for (int k = rank; k < tasks; k += size) done[k] = solve(k, round);
  MPI_Allreduce(MPI_IN_PLACE, done, tasks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int tasks = argc > 1 ? atoi(argv[1]) : 3000, rounds = argc > 2 ? atoi(argv[2]) : 4;
  double *done = malloc(tasks * sizeof *done), s = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int r = 0; r < rounds; r++) {
    work_through(tasks, r, done);
    for (int k = 0; k < tasks; k++) s += done[k] / (1.0 + k);
  }
  if (rank == 0) printf("checksum %.12e\n", s);
  MPI_Finalize();
  return 0;
}
