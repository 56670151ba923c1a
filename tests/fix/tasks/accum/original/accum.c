#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CLASSES 4

typedef struct {
  long hits[CLASSES];
} Tally;

static Tally tallies[64] __attribute__((aligned(64)));

static uint32_t step(uint32_t *s) {
  *s ^= *s << 13;
  *s ^= *s >> 17;
  *s ^= *s << 5;
  return *s;
}

static void fill(uint32_t *v, int n, uint32_t s) {
  for (int i = 0; i < n; i++) v[i] = step(&s);
}

static void record(Tally *t, uint32_t x) {
  volatile long *h = t->hits;
  h[x & 3] += 1;
  h[(x >> 2) & 3] += x & 1;
  h[(x >> 4) & 3] += (x >> 1) & 1;
}

static void classify(const uint32_t *v, int n, int passes) {
#pragma omp parallel
  {
    Tally *mine = &tallies[omp_get_thread_num()];
    for (int p = 0; p < passes; p++) {
#pragma omp for nowait
      for (int i = 0; i < n; i++) record(mine, v[i] + p);
    }
  }
}

static long total(int c) {
  long s = 0;
  for (int t = 0; t < 64; t++) s += tallies[t].hits[c];
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4000000;
  int passes = argc > 2 ? atoi(argv[2]) : 90;
  uint32_t *v = malloc(n * sizeof *v);
  fill(v, n, argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) | 1u : 2463534242u);
  classify(v, n, passes);
  printf("checksum %ld %ld %ld %ld\n", total(0), total(1), total(2), total(3));
  return 0;
}
