#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 400000, steps = argc > 2 ? atoi(argv[2]) : 600;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int first = (int)((long)n * rank / size), count = (int)((long)n * (rank + 1) / size) - first;
  int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  double *y = calloc(count + 2, sizeof *y), *old = calloc(count + 2, sizeof *y), *next = calloc(count + 2, sizeof *y);
  for (int i = 1; i <= count; i++) y[i] = old[i] = sin(3.14159265358979 * (first + i) / (n + 1));
  for (int t = 0; t < steps; t++) {
    MPI_Request wait[4];
    MPI_Irecv(&y[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &wait[0]);
    MPI_Irecv(&y[count + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &wait[1]);
    MPI_Isend(&y[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &wait[2]);
    MPI_Isend(&y[count], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &wait[3]);
    for (int i = 2; i < count; i++) next[i] = 2.0 * y[i] - old[i] + 0.2 * (y[i - 1] - 2.0 * y[i] + y[i + 1]);
    MPI_Waitall(4, wait, MPI_STATUSES_IGNORE);
    next[1] = 2.0 * y[1] - old[1] + 0.2 * (y[0] - 2.0 * y[1] + y[2]);
    next[count] = 2.0 * y[count] - old[count] + 0.2 * (y[count - 1] - 2.0 * y[count] + y[count + 1]);
    double *w = old;
    old = y;
    y = next;
    next = w;
  }
  double mine = 0.0, all;
  for (int i = 1; i <= count; i++) mine += y[i] * y[i];
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.12e\n", all);
  MPI_Finalize();
  return 0;
}
