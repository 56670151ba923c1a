#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct rod {
  int rank, size, local, total;
  double *piece, *whole;
};

static struct rod make_rod(int local) {
  struct rod r;
  MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r.size);
  r.local = local;
  r.total = local * r.size;
  r.piece = malloc(sizeof(double) * r.local);
  r.whole = malloc(sizeof(double) * r.total);
  for (int i = 0; i < local; i++) r.piece[i] = 20.0 + 5.0 * sin(0.01 * (r.rank * local + i));
  return r;
}

static void conduct(struct rod *r, double alpha) {
  const int base = r->rank * r->local;
  MPI_Allgather(r->piece, r->local, MPI_DOUBLE, r->whole, r->local, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < r->local; i++) {
    int g = base + i;
    double west = g > 0 ? r->whole[g - 1] : r->whole[g];
    double east = g + 1 < r->total ? r->whole[g + 1] : r->whole[g];
    r->piece[i] = r->whole[g] + alpha * (west - 2.0 * r->whole[g] + east);
  }
}

static double heat(const struct rod *r) {
  double s = 0.0, all;
  for (int i = 0; i < r->local; i++) s += r->piece[i] * r->piece[i];
  MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char *argv[]) {
  MPI_Init(&argc, &argv);
  struct rod r = make_rod(argc > 1 ? atoi(argv[1]) : 200000);
  int steps = argc > 2 ? atoi(argv[2]) : 1500;
  while (steps-- > 0) conduct(&r, 0.3);
  double h = heat(&r);
  if (r.rank == 0) printf("checksum %.9e\n", h);
  free(r.piece);
  free(r.whole);
  MPI_Finalize();
  return 0;
}
