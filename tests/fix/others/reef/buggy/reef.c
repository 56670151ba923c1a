#include "reef.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void spawn(Region *g, int year) {
  for (int i = 0; i < g->mine; i++) {
    double a = g->adult[i];
    g->young[i] = a * (1.2 + 0.1 * sin(0.7 * year + i % 12)) * g->food[i] / (g->food[i] + 0.2 * a);
  }
}

static double starfish(Region *g, int year) {
  double eaten = 0.0;
  for (int i = 0; i < g->mine; i++)
    if (scramble((uint64_t)(g->first + i) * 64 + year) % 10 == 0) {
      eaten += 0.6 * g->young[i];
      g->young[i] *= 0.4;
    }
  return eaten;
}

static double recruit(Region *g) {
  double live = 0.0;
  for (int i = 0; i < g->mine; i++) {
    double in = 0.0;
    for (int k = g->start[i]; k < g->start[i + 1]; k++) in += g->young[g->source[k]];
    g->adult[i] = 0.6 * g->adult[i] + 0.12 * in / (1.0 + 0.02 * in);
    g->food[i] = 0.5 * g->food[i] + 0.5 * (1.0 + 4.0 / (1.0 + g->adult[i]));
    live += g->adult[i] * (1 + (g->first + i) % 3);
  }
  return live;
}

int main(int argc, char **argv) {
  Region g;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g.size);
  int total = argc > 1 ? atoi(argv[1]) : 20000;
  int years = argc > 2 ? atoi(argv[2]) : 400;
  uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  double sum[2] = {0.0, 0.0}, all[2];
  if (total < 9 * g.size) MPI_Abort(MPI_COMM_WORLD, 1);
  region_build(&g, total, seed);
  for (int i = 0; i < g.mine; i++) {
    g.adult[i] = 1.0 + 0.01 * ((g.first + i) % 83);
    g.food[i] = 2.0 + 0.1 * ((g.first + i) % 7);
  }
  for (int y = 0; y < years; y++) {
    spawn(&g, y);
    pack(&g);
    if (y % 6 == 4) sum[1] += starfish(&g, y);
    exchange(&g);
    sum[0] += recruit(&g);
  }
  MPI_Reduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (g.rank == 0) printf("eaten %.10e\nchecksum %.10e\n", all[1], all[0]);
  MPI_Finalize();
  return 0;
}
