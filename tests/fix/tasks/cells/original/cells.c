#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  double *x, *v;
} Block;

static void block_init(Block *b, int rank, int size, int total) {
  int first = (int)((long)total * rank * rank / ((long)size * size));
  int last = (int)((long)total * (rank + 1) * (rank + 1) / ((long)size * size));
  b->n = last - first;
  b->x = malloc(b->n * sizeof(double));
  b->v = calloc(b->n, sizeof(double));
  for (int i = 0; i < b->n; i++) b->x[i] = (first + i) * 1e-3;
}

static void forces(Block *b, double field) {
  for (int i = 0; i < b->n; i++) {
    double f = 0.0, x = b->x[i];
    for (int k = 1; k <= 40; k++) f += field / (k + x * x * 1e-3);
    b->v[i] += 1e-4 * f;
  }
}

static double move(Block *b) {
  double e = 0.0;
  for (int i = 0; i < b->n; i++) {
    b->x[i] += 1e-3 * b->v[i];
    e += b->v[i] * b->v[i];
  }
  return e;
}

int main(int argc, char **argv) {
  int rank, size, total = argc > 1 ? atoi(argv[1]) : 240000;
  int steps = argc > 2 ? atoi(argv[2]) : 150;
  double e = 0.0, field = 1.0;
  Block b;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  block_init(&b, rank, size, total);
  for (int t = 0; t < steps; t++) {
    forces(&b, field);
    double mine = move(&b);
    MPI_Allreduce(&mine, &e, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    field = 1.0 / (1.0 + e / total);
  }
  if (rank == 0) printf("checksum %.11e %.11e\n", e, field);
  MPI_Finalize();
  return 0;
}
