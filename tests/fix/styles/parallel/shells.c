#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHELLS = 4, MAXT = 256 };

static int32_t count[MAXT][SHELLS];

static inline double uniform(uint64_t *s) {
  *s ^= *s << 13;
  *s ^= *s >> 7;
  *s ^= *s << 17;
  return (double)(*s >> 11) * (1.0 / 9007199254740992.0);
}

static int shell_of(double x, double y, double z) {
  double r2 = x * x + y * y + z * z;
  return (r2 > 0.25) + (r2 > 0.5625) + (r2 > 1.0);
}

static void throw_points(int blocks, int per_block) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for schedule(static)
    for (int b = 0; b < blocks; b++) {
      uint64_t s = 88172645463325252ull + 7919ull * (uint64_t)b;
      for (int k = 0; k < per_block; k++) {
        double x = uniform(&s), y = uniform(&s), z = uniform(&s);
        count[me][shell_of(x, y, z)]++;
      }
    }
  }
}

int main(int argc, char **argv) {
  int blocks = argc > 1 ? atoi(argv[1]) : 4096;
  int per_block = argc > 2 ? atoi(argv[2]) : 50000;
  long total[SHELLS] = {0};
  throw_points(blocks, per_block);
  for (int t = 0; t < MAXT; t++)
    for (int k = 0; k < SHELLS; k++) total[k] += count[t][k];
  printf("checksum %ld %ld %ld %ld\n", total[0], total[1], total[2], total[3]);
  return 0;
}
