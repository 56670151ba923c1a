#include <stdio.h>
#include <stdlib.h>

#define ROOMS (6 << 20)

static int *next;

static void connect(void) {
  for (int i = 0; i < ROOMS; i++) next[i] = i;
  for (int i = 0; i < ROOMS; i++) next[i] = (i + 1) % ROOMS;
}

static long wander(long steps) {
  int room = 0;
  long seen = 0;
  for (long k = 0; k < steps; k++) {
    room = next[room];
    seen += room >= 0;
  }
  return seen;
}

int main(int argc, char **argv) {
  long steps = argc > 1 ? atol(argv[1]) : 40000000;
  next = malloc(ROOMS * sizeof *next);
  connect();
  printf("checksum %ld\n", wander(steps));
  free(next);
  return 0;
}
