#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K 64
#define DIM 48

typedef float vec[DIM];

static vec centre[K];
static double sums[K][DIM];
static double hits[K];

static int nearest(const float *p) {
  int best = 0;
  float low = 1e30f;
  for (int k = 0; k < K; k++) {
    float d = 0.0f;
    for (int j = 0; j < DIM; j++) d += (p[j] - centre[k][j]) * (p[j] - centre[k][j]);
    if (d < low) low = d, best = k;
  }
  return best;
}

static void assign(vec *p, int n) {
  memset(sums, 0, sizeof sums);
  memset(hits, 0, sizeof hits);
  for (int i = 0; i < n; i++) {
    int k = nearest(p[i]);
    hits[k] += 1.0;
    for (int j = 0; j < DIM; j++) sums[k][j] += p[i][j];
  }
}

static void recentre(void) {
  for (int k = 0; k < K; k++)
    for (int j = 0; j < DIM; j++) {
      double part[2] = {sums[k][j], hits[k]}, all[2];
      MPI_Allreduce(part, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      if (all[1] > 0.0) centre[k][j] = (float)(all[0] / all[1]);
    }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int n = argc > 1 ? atoi(argv[1]) : 600, rounds = argc > 2 ? atoi(argv[2]) : 300;
  vec *p = malloc(n * sizeof(vec));
  unsigned s = 17u + 101u * rank;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < DIM; j++) {
      s = s * 1664525u + 1013904223u;
      p[i][j] = (float)(s >> 12) * 1e-5f;
    }
  for (int k = 0; k < K; k++)
    for (int j = 0; j < DIM; j++) centre[k][j] = (float)((k * 29 + j * 13) % 101) * 0.1f;
  for (int r = 0; r < rounds; r++) {
    assign(p, n);
    recentre();
  }
  double c = 0.0;
  for (int k = 0; k < K; k++) c += centre[k][k % DIM];
  if (rank == 0) printf("checksum %.5e\n", c);
  free(p);
  MPI_Finalize();
  return 0;
}
