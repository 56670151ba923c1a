#include <cstdio>
#include <cstdlib>
#include <vector>

static const int worth[] = {1, 2, 5, 10, 20, 50, 100, 200};
static long ways(int amount, int kind) {
  if (amount == 0) return 1;
  if (amount < 0 || kind < 0) return 0;
  return ways(amount, kind - 1) + ways(amount - worth[kind], kind);
}

int main(int argc, char **argv) {
  int amount = argc > 1 ? std::atoi(argv[1]) : 520;
  std::printf("checksum %ld\n", ways(amount, 7));
}
