#include <cstdio>
#include <cstdlib>
#include <vector>

static int score(const std::vector<int> &bases, size_t at) {
  int total = 0;
  for (size_t k = 0; k < 24; k++) total += bases[(at + k) % bases.size()] * (int)(k + 1);
  return total;
}

static long scan(const std::vector<int> &bases) {
  long sum = 0;
  for (size_t i = 0; i < bases.size(); i++) sum += score(bases, i) % 97;
  return sum;
}

int main(int argc, char **argv) {
  int passes = argc > 1 ? std::atoi(argv[1]) : 24;
  std::vector<int> bases(24000);
  for (size_t i = 0; i < bases.size(); i++) bases[i] = (i * i + 3) % 4;
  long sum = 0;
  for (int p = 0; p < passes; p++) sum += scan(bases);
  std::printf("checksum %ld\n", sum);
}
