#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COEF 32

static double table[COEF];

static void prepare(int round) {
  for (int k = 0; k < COEF; k++) table[k] = cos(0.1 * k * (round + 1)) / (k + 1);
}

static double diagnose(int n) {
  double s = 0.0;
  for (int i = 1; i <= n; i++) s += log(1.0 + fabs(table[i % COEF])) / sqrt((double)i);
  return s;
}

static double evaluate(int from, int to) {
  double s = 0.0;
  for (int i = from; i < to; i++) {
    double x = 1e-6 * i, p = 0.0;
    for (int k = COEF - 1; k >= 0; k--) p = p * x + table[k];
    s += p;
  }
  return s;
}

static double round_trip(int rank, int size, int round, int n, double *diag) {
  if (rank == 0) {
    prepare(round);
    *diag += diagnose(n);
    for (int r = 1; r < size; r++) MPI_Send(table, COEF, MPI_DOUBLE, r, 7, MPI_COMM_WORLD);
    return size == 1 ? evaluate(0, n) : 0.0;
  }
  MPI_Recv(table, COEF, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  long lo = (long)n * (rank - 1) / (size - 1), hi = (long)n * rank / (size - 1);
  return evaluate((int)lo, (int)hi);
}

int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int n = argc > 1 ? atoi(argv[1]) : 1000000;
  int rounds = argc > 2 ? atoi(argv[2]) : 60;
  double mine = 0.0, diag = 0.0, part = 0.0;
  for (int r = 0; r < rounds; r++) {
    mine = round_trip(rank, size, r, n, &diag);
    double all = 0.0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    part += all;
  }
  if (rank == 0) printf("checksum %.8e %.8e\n", part, diag);
  MPI_Finalize();
  return 0;
}
