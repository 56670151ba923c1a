#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define W 20000

static double edge[W], body[W];
static int rank, size;

static void setup(void) {
  for (int i = 0; i < W; i++) {
    edge[i] = 1.0 + 0.001 * (i % 37);
    body[i] = 0.5 + 0.002 * (i % 53) + 0.1 * rank;
  }
}

static double interior(int reps) {
  double s = 0.0;
  for (int r = 0; r < reps; r++)
    for (int i = 1; i + 1 < W; i++) {
      body[i] = 0.9 * body[i] + 0.05 * (body[i - 1] + body[i + 1]) + 1e-4 / (1.0 + body[i]);
      s += body[i];
    }
  return s;
}

static void border(int t) {
  for (int i = 0; i < W; i++) edge[i] = 0.99 * edge[i] + 0.01 * sin(0.01 * (i + t));
}

static double absorb(const double *in, int reps) {
  double s = 0.0;
  for (int r = 0; r < reps; r++)
    for (int i = 0; i < W; i++) s += in[i] * edge[i] / (1.0 + r + s * 1e-9);
  return s;
}

static double stage(int t) {
  static double in[W];
  double s = 0.0;
  if (rank == 0) {
    border(t);
    s += interior(60);
    MPI_Send(edge, W, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  } else {
    MPI_Recv(in, W, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s += absorb(in, 10);
    s += interior(15);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return s;
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 350;
  double s = 0.0, all = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  setup();
  for (int t = 0; t < steps; t++) s += stage(t);
  MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.12e\n", all);
  MPI_Finalize();
  return 0;
}
