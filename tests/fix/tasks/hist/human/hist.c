#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBINS 512

typedef struct {
  uint64_t count[NBINS];
  uint64_t weight[NBINS];
} Spectrum;

static uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdUL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53UL;
  x ^= x >> 33;
  return x;
}

static void generate(double *ev, int n, uint64_t run) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double u = (double)(mix(run * 0x9e3779b97f4a7c15UL + i) >> 11) / 9007199254740992.0;
    ev[i] = -log(1.0 - u) * 60.0;
  }
}

static void calibrate(double *ev, int n, double gain) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    ev[i] = ev[i] * gain + 0.25 * sqrt(ev[i]);
}

static int bin_of(double e) {
  int b = (int)e;
  return b < 0 ? 0 : b >= NBINS ? NBINS - 1 : b;
}

static void accumulate(Spectrum *sp, const double *ev, int n) {
#pragma omp parallel
  {
    Spectrum mine;
    memset(&mine, 0, sizeof mine);
#pragma omp for
    for (int i = 0; i < n; i++) {
      int b = bin_of(ev[i]);
      uint64_t w = (uint64_t)(ev[i] * 16.0);
      mine.count[b]++;
      mine.weight[b] += w;
    }
#pragma omp critical
    for (int b = 0; b < NBINS; b++) {
      sp->count[b] += mine.count[b];
      sp->weight[b] += mine.weight[b];
    }
  }
}

static uint64_t fold(const Spectrum *sp) {
  uint64_t h = 1469598103934665603UL;
  for (int b = 0; b < NBINS; b++)
    h = mix(h ^ (sp->count[b] * 31 + sp->weight[b]));
  return h;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1000000;
  int runs = argc > 2 ? atoi(argv[2]) : 40;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1u;
  double *ev = malloc(n * sizeof(double));
  Spectrum *sp = calloc(1, sizeof(Spectrum));
  for (int r = 0; r < runs; r++) {
    if (r % 8 == 0) generate(ev, n, r + 1000ul * seed);
    calibrate(ev, n, 1.0 + 0.001 * r);
    accumulate(sp, ev, n);
  }
  printf("checksum %016lx\n", fold(sp));
  return 0;
}
