#include <stdio.h>
#include <stdlib.h>

#define BALLOTS 2000000

static long tally[64];

static void count(int seed) {
#pragma omp parallel for
  for (int i = 0; i < BALLOTS; i++) {
    unsigned s = (unsigned)i * 2654435761u + seed;
    int choice = (s >> 16) % 64;
#pragma omp critical
    tally[choice] += s & 3;
  }
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 60;
  unsigned long sum = 0;
  for (int r = 0; r < rounds; r++) count(r * 97);
  for (int c = 0; c < 64; c++) sum += tally[c] * (c + 1);
  printf("checksum %lu\n", sum);
  return 0;
}
