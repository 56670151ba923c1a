#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long born[8];
#define SLOT(t) born[t]

static void count(long events) {
#pragma omp parallel
  {
    int t = omp_get_thread_num();
    for (long i = 0; i < events; i++) SLOT(t) += i & 1;
  }
}

int main(int argc, char **argv) {
  long events = argc > 1 ? atol(argv[1]) : 1200000000;
  long sum = 0;
  count(events);
  for (int t = 0; t < 8; t++) sum += SLOT(t);
  printf("checksum %ld\n", sum);
  return 0;
}
