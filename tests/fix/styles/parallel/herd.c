#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double weight, food;
  uint32_t mood;
} Cow;

static uint32_t turn(uint32_t s) {
  s ^= s << 13;
  s ^= s >> 17;
  return s ^ (s << 5);
}

static void graze(Cow *c, int bites) {
  while (bites--) {
    c->food = 0.98 * c->food + 0.02 * fabs(sin(c->weight));
    c->weight += 1e-4 * (c->food - 0.3);
  }
}

static void season(Cow *herd, int n, int days, uint32_t seed) {
  for (int d = 0; d < days; d++) {
    seed = turn(seed);
    int bites = seed % 8 == 0 ? 120 : 10;
    for (Cow *c = herd; c < herd + n; c++) {
      c->mood = turn(c->mood);
      graze(c, bites + (int)(c->mood % 4));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int n = argc > 1 ? atoi(argv[1]) : 500;
  int days = argc > 2 ? atoi(argv[2]) : 600;
  Cow *herd = malloc(n * sizeof *herd);
  for (int i = 0; i < n; i++) {
    herd[i].weight = 400.0 + (i * 7 + rank * 3) % 120;
    herd[i].food = 0.2;
    herd[i].mood = 1u + (uint32_t)i * 2654435761u + (uint32_t)rank;
  }
  season(herd, n, days, 9001u + 77u * (uint32_t)rank);
  double mine = 0.0, all = 0.0;
  for (int i = 0; i < n; i++) mine += herd[i].weight;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.9e\n", all);
  free(herd);
  MPI_Finalize();
  return 0;
}
