#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct town {
  uint32_t people;
  int64_t *coins;
};

static uint64_t rng = 88172645463325252ull;

static uint32_t pick(uint32_t range) {
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return (uint32_t)((rng >> 20) % range);
}

static int64_t wealth(const struct town *t) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < t->people; i++) sum += t->coins[i];
  return sum;
}

static void found(struct town *t, uint32_t people) {
  t->people = people;
  t->coins = malloc(people * sizeof *t->coins);
  for (uint32_t i = 0; i < people; i++) t->coins[i] = 100 + pick(50);
}

static int64_t trade(struct town *t, uint32_t deals) {
  int64_t taxed = 0;
  for (uint32_t d = 0; d < deals; d++) {
    int64_t mean = wealth(t) / t->people;
    uint32_t a = pick(t->people);
    if (t->coins[a] > mean) {
      int64_t tax = (t->coins[a] - mean) / 4;
      t->coins[a] -= tax;
      taxed += tax;
    } else {
      t->coins[a] += 1 + pick(12);
    }
  }
  return taxed;
}

static int64_t gap(const struct town *t) {
  int64_t lo = t->coins[0], hi = lo;
  for (uint32_t i = 1; i < t->people; i++) {
    if (t->coins[i] < lo) lo = t->coins[i];
    if (t->coins[i] > hi) hi = t->coins[i];
  }
  return hi - lo;
}

int main(int argc, char **argv) {
  struct town t;
  uint32_t people = argc > 1 ? (uint32_t)atoi(argv[1]) : 20000u;
  uint32_t deals = argc > 2 ? (uint32_t)atoi(argv[2]) : 250000u;
  found(&t, people);
  int64_t taxed = trade(&t, deals);
  printf("checksum %lld %lld\n", (long long)taxed, (long long)(gap(&t) + wealth(&t)));
  free(t.coins);
  return 0;
}
