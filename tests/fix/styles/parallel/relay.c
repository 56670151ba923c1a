#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int rank, size, width, rows;
  double *edge, *field;
} Reach;

static void reach_init(Reach *r, int width, int rows) {
  MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r->size);
  r->width = width;
  r->rows = rows;
  r->edge = calloc(width, sizeof(double));
  r->field = malloc(sizeof(double) * width * rows);
  for (int i = 0; i < width * rows; i++) r->field[i] = 1.0 + 0.01 * (i % 23) + r->rank;
}

static void route_flow(Reach *r) {
  for (int i = 0; i < r->width; i++) r->edge[i] = 0.9 * r->edge[i] + 0.05 * r->field[i];
}

static void settle_bed(Reach *r) {
  for (int j = 1; j < r->rows; j++) {
    double *p = r->field + (size_t)j * r->width;
    for (int i = 0; i < r->width; i++) p[i] += 1e-3 * sin(p[i]) * exp(-0.1 * p[i]);
  }
}

static void day(Reach *r, double inflow) {
  if (r->rank == 0)
    for (int i = 0; i < r->width; i++) r->edge[i] = 0.5 * r->edge[i] + inflow;
  else
    MPI_Recv(r->edge, r->width, MPI_DOUBLE, r->rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  route_flow(r);
  settle_bed(r);
  if (r->rank + 1 < r->size)
    MPI_Send(r->edge, r->width, MPI_DOUBLE, r->rank + 1, 3, MPI_COMM_WORLD);
  else if (r->rank > 0)
    MPI_Send(r->edge, r->width, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
  if (r->rank == 0 && r->size > 1)
    MPI_Recv(r->edge, r->width, MPI_DOUBLE, r->size - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  Reach r;
  double s = 0.0, all = 0.0;
  MPI_Init(&argc, &argv);
  reach_init(&r, argc > 1 ? atoi(argv[1]) : 1000, 200);
  int days = argc > 2 ? atoi(argv[2]) : 200;
  for (int d = 0; d < days; d++) day(&r, 2.0 + sin(0.1 * d));
  for (int i = 0; i < r.width * r.rows; i++) s += r.field[i];
  for (int i = 0; i < r.width; i++) s += r.edge[i];
  MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (r.rank == 0) printf("checksum %.9e\n", all);
  MPI_Finalize();
  return 0;
}
