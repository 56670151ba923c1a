#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NHARM 24

struct harmonic {
  double speed;
  double amp;
  double phase;
  double incl;
};

static struct harmonic table[NHARM];

static void load_table(void)
{
  int k;
  for (k = 0; k < NHARM; k++) {
    table[k].speed = 0.0045 * (k + 3) + 0.0007 * (k % 5);
    table[k].amp = 1.8 / (1.0 + k);
    table[k].phase = 0.37 * k;
    table[k].incl = 0.31 + 0.006 * k;
  }
}

static double node_factor(const struct harmonic *h)
{
  double f = 0.0;
  int q;
  for (q = 1; q <= 6; q++)
    f += sin(q * h->incl) * exp(-0.2 * q) / q;
  return 1.0 + 0.1 * f;
}

static double level_at(double t)
{
  double z = 0.0;
  int k;
  for (k = 0; k < NHARM; k++) {
    const struct harmonic *h = &table[k];
    z += h->amp * node_factor(h) * cos(h->speed * t - h->phase);
  }
  return z;
}

static void extremes(double *lev, long n, double *lo, double *hi)
{
  long i;
  *lo = *hi = lev[0];
  for (i = 1; i < n; i++) {
    if (lev[i] < *lo) *lo = lev[i];
    if (lev[i] > *hi) *hi = lev[i];
  }
}

int main(int argc, char **argv)
{
  long n = argc > 1 ? atol(argv[1]) : 600000;
  long i;
  double lo, hi, s = 0.0;
  double *lev = malloc(n * sizeof *lev);
  load_table();
  for (i = 0; i < n; i++)
    lev[i] = level_at(6.0 * i);
  extremes(lev, n, &lo, &hi);
  for (i = 0; i < n; i++)
    s += lev[i] * lev[i];
  printf("checksum %.8e %.6f %.6f\n", s, lo, hi);
  free(lev);
  return 0;
}
