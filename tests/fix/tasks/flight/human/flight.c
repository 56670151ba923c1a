#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { KNOWN = 1 << 20 };
static int16_t known[KNOWN];

static int length(uint64_t n) {
  if (n <= 1) return 1;
  if (n < KNOWN && known[n]) return known[n];
  int k = 1 + length(n % 2 ? 3 * n + 1 : n / 2);
  if (n < KNOWN) known[n] = (int16_t)k;
  return k;
}

static uint64_t longest(uint64_t first, uint64_t last, int *most, uint64_t *sum) {
  uint64_t at = first;
  *most = 0;
  *sum = 0;
  for (uint64_t n = first; n < last; n++) {
    int k = length(n);
    *sum += (uint64_t)k * (1 + n % 3);
    if (k > *most) {
      *most = k;
      at = n;
    }
  }
  return at;
}

int main(int argc, char **argv) {
  uint64_t range = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000u;
  uint64_t first = argc > 2 ? 1u + strtoull(argv[2], NULL, 10) % 100000u : 1u;
  int most;
  uint64_t sum, at = longest(first, first + range, &most, &sum);
  printf("checksum %lu %d %lu\n", (unsigned long)at, most, (unsigned long)sum);
  return 0;
}
