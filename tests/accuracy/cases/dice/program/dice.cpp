#include <cstdint>
#include <cstdio>
#include <cstdlib>

static uint64_t state = 88172645463325252ull;

static inline uint64_t roll() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static long inside(long darts) {
  long hits = 0;
  for (long i = 0; i < darts; i++) {
    double x = (roll() >> 11) * 0x1p-53, y = (roll() >> 11) * 0x1p-53;
    hits += x * x + y * y < 1.0;
  }
  return hits;
}

int main(int argc, char **argv) {
  long darts = argc > 1 ? std::atol(argv[1]) : 300000000;
  std::printf("checksum %ld\n", inside(darts));
}
