#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int cells, slots;
  double *lag, *held, *oxygen, *waste;
  double *inflow, *flow;
} Reach;

static int rank, size;

static double rain(unsigned seed, int day, int slot) {
  unsigned h = seed * 2654435761u + (unsigned)day * 40503u + (unsigned)slot / 16u * 9973u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return 2.0 + (h % 1000u) * 0.004;
}

static Reach reach_new(int cells, int slots) {
  Reach r = {cells, slots, NULL, NULL, NULL, NULL, NULL, NULL};
  r.lag = malloc(sizeof(double) * cells);
  r.held = malloc(sizeof(double) * cells);
  r.oxygen = malloc(sizeof(double) * cells);
  r.waste = malloc(sizeof(double) * cells);
  r.inflow = calloc(slots, sizeof(double));
  r.flow = calloc((size_t)cells * slots, sizeof(double));
  for (int c = 0; c < cells; c++) {
    r.lag[c] = 0.35 + 0.1 * ((c + 3 * rank) % 6);
    r.held[c] = 3.0 + 0.01 * (c % 11);
    r.oxygen[c] = 8.0 + 0.1 * (c % 5);
    r.waste[c] = 0.02 * (1 + (c * 7 + rank) % 9);
  }
  return r;
}

static void route(Reach *r) {
  const double *up = r->inflow;
  for (int c = 0; c < r->cells; c++) {
    double *q = r->flow + (size_t)c * r->slots;
    double now = r->held[c];
    for (int t = 0; t < r->slots; t++) {
      now += r->lag[c] * (up[t] - now);
      q[t] = now;
    }
    r->held[c] = now;
    up = q;
  }
}

static double irrigate(double *q, int slots) {
  double taken = 0.0;
  for (int t = 0; t < slots; t++)
    if (q[t] > 4.2) {
      double part = 0.3 * (q[t] - 4.2);
      q[t] -= part;
      taken += part;
    }
  return taken;
}

static double ecology(Reach *r, int day) {
  double stress = 0.0, full = 9.5 + sin(0.05 * day);
  for (int c = 0; c < r->cells; c++) {
    const double *q = r->flow + (size_t)c * r->slots;
    double o = r->oxygen[c];
    for (int t = 0; t < r->slots; t++) {
      o += 0.03 * q[t] * (full - o) / (q[t] + 4.0) - r->waste[c] * o / (o + 2.0);
      if (o < 6.0) stress += 6.0 - o;
    }
    r->oxygen[c] = o;
  }
  return stress;
}

static void from_above(Reach *r, unsigned seed, int day) {
  int above = (rank + size - 1) % size;
  if (rank > 0 || day > 0) MPI_Recv(r->inflow, r->slots, MPI_DOUBLE, above, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0)
    for (int t = 0; t < r->slots; t++) r->inflow[t] = rain(seed, day, t) + 0.15 * r->inflow[t];
}

static void simulate(Reach *r, int days, unsigned seed, double sum[3]) {
  double *mouth = r->flow + (size_t)(r->cells - 1) * r->slots;
  for (int d = 0; d < days; d++) {
    from_above(r, seed, d);
    route(r);
    sum[0] += irrigate(mouth, r->slots);
    MPI_Request out = MPI_REQUEST_NULL;
    if (rank < size - 1 || d < days - 1)
      MPI_Isend(mouth, r->slots, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD, &out);
    sum[1] += ecology(r, d);
    sum[2] += mouth[r->slots / 2];
    MPI_Wait(&out, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 1);
  int cells = argc > 1 ? atoi(argv[1]) : 1000;
  int days = argc > 2 ? atoi(argv[2]) : 320;
  unsigned seed = argc > 3 ? strtoul(argv[3], NULL, 10) : 1u;
  Reach r = reach_new(cells, 192);
  double sum[3] = {0.0, 0.0, 0.0}, all[3];
  simulate(&r, days, seed, sum);
  MPI_Reduce(sum, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("taken %.10e\nchecksum %.10e %.10e\n", all[0], all[1], all[2]);
  MPI_Finalize();
  return 0;
}
