#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

using Index = std::map<std::string, std::vector<int>>;

static Index build(int n, unsigned s) {
  Index index;
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    unsigned k = (s >> 16) % 997;
    index["a word that is number " + std::to_string(k * k)].push_back(i);
  }
  return index;
}

static long weigh(const Index &index, int round) {
  long sum = 0;
  for (auto entry : index) {
    const std::vector<int> places = entry.second;
    sum += (long)entry.first.size() * (places.front() + places.back() + round);
  }
  return sum;
}

static void extend(Index &index, int at) {
  int k = 0;
  for (auto &entry : index)
    if (k++ % 50 == 0) entry.second.push_back(at);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 30000, rounds = argc > 2 ? std::atoi(argv[2]) : 40;
  unsigned seed = argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 6u;
  Index index = build(n, seed);
  long sum = 0;
  for (int r = 0; r < 20 * rounds; r++) {
    sum += weigh(index, r);
    if (r % 10 == 0) extend(index, n + r);
  }
  std::printf("checksum %ld %zu\n", sum, index.size());
  return 0;
}
