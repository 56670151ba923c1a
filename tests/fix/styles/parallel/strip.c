#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(u, j, i) ((u)[(size_t)(j) * nx + (i)])

static int nx, rows, rank, size;

static void swap_edges(double *u) {
  int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int down = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  for (int i = 0; i < nx; i++) {
    MPI_Sendrecv(&AT(u, 1, i), 1, MPI_DOUBLE, up, 0, &AT(u, rows + 1, i), 1, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&AT(u, rows, i), 1, MPI_DOUBLE, down, 1, &AT(u, 0, i), 1, MPI_DOUBLE, up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void diffuse(const double *u, double *v) {
  for (int j = 1; j <= rows; j++)
    for (int i = 1; i < nx - 1; i++)
      AT(v, j, i) = AT(u, j, i) + 0.2 * (AT(u, j - 1, i) + AT(u, j + 1, i) + AT(u, j, i - 1) +
                                         AT(u, j, i + 1) - 4.0 * AT(u, j, i));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  nx = argc > 1 ? atoi(argv[1]) : 4000;
  rows = 16;
  int steps = argc > 2 ? atoi(argv[2]) : 800;
  size_t cells = (size_t)(rows + 2) * nx;
  double *u = calloc(cells, sizeof(double)), *v = calloc(cells, sizeof(double));
  for (int j = 1; j <= rows; j++)
    for (int i = 1; i < nx - 1; i++) AT(u, j, i) = (double)((i * 3 + (rank * rows + j) * 5) % 19);
  for (int t = 0; t < steps; t++) {
    swap_edges(u);
    diffuse(u, v);
    double *w = u;
    u = v;
    v = w;
  }
  double s = 0.0, sum = 0.0;
  for (int j = 1; j <= rows; j++)
    for (int i = 0; i < nx; i++) s += AT(u, j, i) * (1 + i % 3);
  MPI_Reduce(&s, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.9e\n", sum);
  free(u);
  free(v);
  MPI_Finalize();
  return 0;
}
