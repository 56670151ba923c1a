#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLAY, SILT, SAND, STONE, CLASSES };
enum { HANDS = 64 };

typedef struct {
  float *width;
  unsigned *mass;
  long n;
} Sample;

static unsigned caught[HANDS][CLASSES];
static unsigned weight[HANDS][CLASSES];

static uint64_t stir(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

static Sample dig(long n, uint64_t seed) {
  Sample s = {malloc(sizeof(float) * n), malloc(sizeof(unsigned) * n), n};
  for (long i = 0; i < n; i++) {
    uint64_t r = stir(seed + (uint64_t)i * 7919u);
    double d = (double)(r >> 40) / 16777216.0;
    s.width[i] = (float)(0.002 + 4.0 * d * d * d);
    s.mass[i] = 1 + (unsigned)(r & 1023u);
  }
  return s;
}

static inline int mesh(float w, const float *gap) {
  return (w > gap[0]) + (w > gap[1]) + (w > gap[2]);
}

static void sieve(const Sample *s, const float *gap) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for schedule(static)
    for (long i = 0; i < s->n; i++) {
      int c = mesh(s->width[i], gap);
      caught[me][c]++;
      weight[me][c] += s->mass[i];
    }
  }
}

static void empty(unsigned long long *count, unsigned long long *mass) {
  for (int c = 0; c < CLASSES; c++) {
    count[c] = mass[c] = 0;
    for (int h = 0; h < HANDS; h++) {
      count[c] += caught[h][c];
      mass[c] += weight[h][c];
      caught[h][c] = weight[h][c] = 0;
    }
  }
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1500000;
  int shakes = argc > 2 ? atoi(argv[2]) : 90;
  Sample s = dig(n, argc > 3 ? strtoull(argv[3], NULL, 10) : 9);
  double spread = 0.0, centre = 0.0;
  for (int k = 0; k < shakes; k++) {
    unsigned long long count[CLASSES], mass[CLASSES];
    float open = 1.0f + 0.01f * (float)(k % 23);
    const float gap[3] = {0.06f * open, 0.5f * open, 1.9f * open};
    sieve(&s, gap);
    empty(count, mass);
    for (int c = 0; c < CLASSES; c++) {
      double share = (double)count[c] / (double)n;
      if (share > 0.0) spread -= share * log(share);
      centre += (double)(c + 1) * (double)mass[c] / (double)n;
    }
  }
  printf("checksum %.10e %.10e\n", spread, centre);
  free(s.width);
  free(s.mass);
  return 0;
}
