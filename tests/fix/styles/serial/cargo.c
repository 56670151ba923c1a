#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAXBOX 64

typedef struct {
  int32_t mass;
  int32_t fare;
} Box;

static Box dock[MAXBOX];
static int boxes;

static void fill_dock(uint32_t seed) {
  uint32_t s = seed;
  for (int i = 0; i < boxes; i++) {
    s = s * 1664525u + 1013904223u;
    dock[i].mass = 3 + (int32_t)((s >> 16) % 9u);
    dock[i].fare = 5 + (int32_t)((s >> 10) % 60u);
  }
}

static int32_t best_fare(int first, int32_t room) {
  if (first == boxes) return 0;
  int32_t skip = best_fare(first + 1, room);
  if (dock[first].mass > room) return skip;
  int32_t take = dock[first].fare + best_fare(first + 1, room - dock[first].mass);
  return take > skip ? take : skip;
}

static int32_t greedy_fare(int32_t room) {
  int32_t fare = 0;
  for (int i = 0; i < boxes; i++)
    if (dock[i].mass <= room) {
      room -= dock[i].mass;
      fare += dock[i].fare;
    }
  return fare;
}

int main(int argc, char **argv) {
  boxes = argc > 1 ? atoi(argv[1]) : 26;
  int ships = argc > 2 ? atoi(argv[2]) : 20;
  int32_t room = argc > 3 ? atoi(argv[3]) : 90;
  int64_t sum = 0, gap = 0;
  if (boxes > MAXBOX) boxes = MAXBOX;
  for (int k = 0; k < ships; k++) {
    fill_dock(1000u + 77u * (uint32_t)k);
    int32_t best = best_fare(0, room);
    sum += (int64_t)best * (k + 1);
    gap += best - greedy_fare(room);
  }
  printf("checksum %lld %lld\n", (long long)sum, (long long)gap);
  return 0;
}
