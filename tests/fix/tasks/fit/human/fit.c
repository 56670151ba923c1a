#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  double *x, *y, w[8];
} Shard;

static int rank, size;

static void shard_init(Shard *s, int total) {
  s->n = total / size;
  s->x = malloc(s->n * sizeof(double));
  s->y = malloc(s->n * sizeof(double));
  for (int i = 0; i < s->n; i++) {
    double u = (double)(rank * s->n + i) / total;
    s->x[i] = u;
    s->y[i] = 1.0 + u * (0.5 - u * (0.2 + 0.1 * u));
  }
  for (int k = 0; k < 8; k++) s->w[k] = 0.0;
}

static double gradient(const Shard *s, double *g) {
  double loss = 0.0;
  for (int k = 0; k < 8; k++) g[k] = 0.0;
  for (int i = 0; i < s->n; i++) {
    double p = 0.0, b = 1.0, e;
    for (int k = 0; k < 8; k++) {
      p += s->w[k] * b;
      b *= s->x[i];
    }
    e = p - s->y[i];
    loss += e * e;
    b = e;
    for (int k = 0; k < 8; k++) {
      g[k] += b;
      b *= s->x[i];
    }
  }
  return loss;
}

static double validate(const double *w, int n, int first, int last) {
  double worst = 0.0;
  for (int f = first; f < last; f++) {
    double q = 0.0;
    for (int i = 0; i < n; i++) {
      double u = (double)i / n, p = w[0] + u * (w[1] + u * w[2]), d = p - 1.0 - 0.4 * u * (1.0 + 0.01 * f);
      q += d * d / (1.0 + d * d);
    }
    if (q > worst) worst = q;
  }
  return worst;
}

int main(int argc, char **argv) {
  int total = argc > 1 ? atoi(argv[1]) : 80000, iters = argc > 2 ? atoi(argv[2]) : 100;
  double g[9], all[9], v = 0.0, worst = 0.0;
  Shard s;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  shard_init(&s, total);
  for (int t = 0; t < iters; t++) {
    g[8] = gradient(&s, g);
    double mine = validate(s.w, total / 4, 24 * rank / size, 24 * (rank + 1) / size), greatest;
    MPI_Reduce(&mine, &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) v += greatest;
    MPI_Allreduce(g, all, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < 8; k++) s.w[k] -= 0.1 * all[k] / total;
  }
  MPI_Reduce(&v, &worst, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.12e %.12e\n", all[8], worst);
  MPI_Finalize();
  return 0;
}
