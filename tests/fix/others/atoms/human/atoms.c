#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
  int rank, size;
  int *count, *first;
};

struct scratch {
  double *p, *f;
};

static double noise(unsigned *s) {
  *s ^= *s << 13;
  *s ^= *s >> 17;
  *s ^= *s << 5;
  return (*s >> 8) * (1.0 / 16777216.0) - 0.5;
}

static void place(double *p, int n, double heat, unsigned seed) {
  unsigned s = seed * 747796405u + 2891336453u * (unsigned)n + 1u;
  for (int i = 0; i < n; i++, p += 3) {
    double a = 2.39996 * i, r = 0.75 * cbrt(i + 1.0), c = 1.0 - 2.0 * (i + 0.5) / n;
    double w = sqrt(1.0 - c * c);
    p[0] = r * w * cos(a) + heat * noise(&s);
    p[1] = r * w * sin(a) + heat * noise(&s);
    p[2] = r * c + heat * noise(&s);
  }
}

static double forces(const double *p, double *f, int n) {
  double e = 0.0;
  memset(f, 0, sizeof(double) * 3 * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double x = p[3 * i] - p[3 * j], y = p[3 * i + 1] - p[3 * j + 1], z = p[3 * i + 2] - p[3 * j + 2];
      double q = 1.0 / (x * x + y * y + z * z + 0.4), q3 = q * q * q;
      double g = (12.0 * q3 - 6.0) * q3 * q;
      e += (q3 - 1.0) * q3;
      f[3 * i] += g * x, f[3 * j] -= g * x;
      f[3 * i + 1] += g * y, f[3 * j + 1] -= g * y;
      f[3 * i + 2] += g * z, f[3 * j + 2] -= g * z;
    }
  return e;
}

static double settle(struct scratch *w, int n, double heat, unsigned seed) {
  double e = 0.0;
  place(w->p, n, heat, seed);
  for (int k = 0; k < 4; k++) {
    e = forces(w->p, w->f, n);
    for (int c = 0; c < 3 * n; c++) w->p[c] += 0.01 * w->f[c] / (1.0 + fabs(w->f[c]));
  }
  return e;
}

static void divide(struct world *w, int n) {
  w->count = malloc(sizeof(int) * w->size);
  w->first = malloc(sizeof(int) * w->size);
  for (int r = 0, at = 0; r < w->size; r++) {
    w->count[r] = n / w->size + (r < n % w->size);
    w->first[r] = at;
    at += w->count[r];
  }
}

static void survey(const struct world *w, struct scratch *s, double heat, unsigned seed, double *energy) {
  int mine = w->count[w->rank], total = w->first[w->size - 1] + w->count[w->size - 1];
  double *e = malloc(sizeof(double) * (mine + 1)), *all = malloc(sizeof(double) * (total + 1));
  for (int k = 0; k < mine; k++) e[k] = settle(s, w->rank + k * w->size + 2, heat, seed);
  MPI_Allgatherv(e, mine, MPI_DOUBLE, all, w->count, w->first, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < w->size; r++)
    for (int k = 0; k < w->count[r]; k++) energy[r + k * w->size] = all[w->first[r] + k];
  free(e);
  free(all);
}

int main(int argc, char **argv) {
  struct world w;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &w.size);
  int n = argc > 1 ? atoi(argv[1]) : 210;
  int rounds = argc > 2 ? atoi(argv[2]) : 36;
  unsigned seed = argc > 3 ? strtoul(argv[3], NULL, 10) : 5u;
  struct scratch s = {malloc(sizeof(double) * 3 * (n + 2)), malloc(sizeof(double) * 3 * (n + 2))};
  double *energy = malloc(sizeof(double) * (n + 1)), heat = 0.3, sum = 0.0;
  divide(&w, n);
  for (int t = 0; t < rounds; t++) {
    double bond = 0.0;
    survey(&w, &s, heat, seed + t, energy);
    for (int k = 0; k < n; k++) {
      bond += energy[k] / (k + 2);
      sum += energy[k] * (1 + k % 7);
    }
    heat = 0.8 * heat + 0.02 / (1.0 + fabs(bond / n));
  }
  if (w.rank == 0) printf("last %.10e\nchecksum %.10e %.10e\n", energy[n - 1], sum, heat);
  MPI_Finalize();
  return 0;
}
