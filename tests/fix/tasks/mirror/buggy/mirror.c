#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void paint(uint32_t *p, int n, unsigned seed) {
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) p[(size_t)y * n + x] = (uint32_t)(x * 31 + y * 17) ^ seed;
}

static void turn(uint32_t *out, const uint32_t *in, int n) {
  const int tile = 32;
  for (int v = 0; v + tile <= n; v += tile)
    for (int u = 0; u < n; u += tile) {
      int below = v + tile < n ? v + tile : n, beside = u + tile < n ? u + tile : n;
      for (int y = v; y < below; y++)
        for (int x = u; x < beside; x++) out[(size_t)x * n + y] = in[(size_t)y * n + x] + (uint32_t)(x & 1);
    }
}

static uint64_t digest(const uint32_t *p, int n) {
  uint64_t h = 1469598103934665603u;
  for (size_t k = 0; k < (size_t)n * n; k++) h = (h ^ p[k]) * 1099511628211u;
  return h;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4096, rounds = argc > 2 ? atoi(argv[2]) : 6;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1u;
  uint32_t *a = malloc((size_t)n * n * sizeof *a), *b = malloc((size_t)n * n * sizeof *b);
  paint(a, n, seed);
  for (int r = 0; r < rounds; r++) {
    turn(b, a, n);
    uint32_t *w = a;
    a = b;
    b = w;
  }
  printf("checksum %016lx\n", (unsigned long)digest(a, n));
  return 0;
}
