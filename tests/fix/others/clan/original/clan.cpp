#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "strand.h"

namespace {

struct Draw {
  uint64_t state;
  int below(int n) {
    uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<int>(((z ^ (z >> 31)) >> 33) % n);
  }
};

using People = std::vector<Strand>;

const Strand &winner(const People &all, Draw &draw) {
  const Strand &a = all[draw.below(all.size())];
  const Strand &b = all[draw.below(all.size())];
  return draw.below(8) == 0 || a.worth() > b.worth() ? a : b;
}

void advance(People &now, People &next, int length, uint64_t key, const std::vector<double> &value) {
  const int n = static_cast<int>(now.size());
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) {
    Draw draw{key * 0x100000001b3ULL + i * 7919ULL};
    const Strand &mother = winner(now, draw);
    const Strand &father = winner(now, draw);
    next[i] = Strand::joined(mother, father, draw.below(length), value);
  }
  now.swap(next);
}

}  // namespace

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 5000;
  const int generations = argc > 2 ? std::atoi(argv[2]) : 60;
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 5;
  const int length = 100000;
  std::vector<double> value(n);
  Draw draw{seed};
  for (double &v : value) v = 1.0 + 1e-3 * draw.below(100);
  People now, next(n);
  for (int i = 0; i < n; i++) now.emplace_back(i, length, value);
  for (int g = 0; g < generations; g++) advance(now, next, length, seed * 1000003ULL + g, value);
  std::vector<long> share(n);
  double worth = 0.0;
  long pieces = 0;
  for (const Strand &s : now) {
    s.each([&](int founder, int from, int to) { share[founder] += to - from; });
    pieces += s.count();
    worth += s.worth();
  }
  int left = 0;
  double mixed = 0.0;
  for (int f = 0; f < n; f++) {
    left += share[f] > 0;
    mixed += std::sqrt(static_cast<double>(share[f])) * (f % 13 + 1);
  }
  std::printf("founders %d pieces %ld\n", left, pieces);
  std::printf("checksum %.12e %.12e\n", worth / n, mixed);
  return 0;
}
