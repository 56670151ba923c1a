#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

class Folder {
 public:
  explicit Folder(std::string s) : seq_(std::move(s)) {}

  int run() { return pairs(0, static_cast<int>(seq_.size()) - 1); }

 private:
  bool fits(int a, int b) const {
    auto is = [&](char p, char q) {
      return (seq_[a] == p && seq_[b] == q) || (seq_[a] == q && seq_[b] == p);
    };
    return is('A', 'U') || is('G', 'C') || is('G', 'U');
  }

  int pairs(int lo, int hi) {
    if (hi - lo < 2) return 0;
    int best = pairs(lo + 1, hi);
    for (int k = lo + 2; k <= hi; ++k)
      if (fits(lo, k))
        best = std::max(best, 1 + pairs(lo + 1, k - 1) + pairs(k + 1, hi));
    return best;
  }

  std::string seq_;
};

static std::string strand(std::mt19937 &gen, int len) {
  std::string s;
  for (int i = 0; i < len; ++i) s += "ACGU"[gen() & 3];
  return s;
}

int main(int argc, char **argv) {
  int len = argc > 1 ? std::atoi(argv[1]) : 28;
  int count = argc > 2 ? std::atoi(argv[2]) : 16;
  std::mt19937 gen(2024);
  long total = 0;
  int most = 0;
  for (int i = 0; i < count; ++i) {
    Folder f(strand(gen, len));
    int p = f.run();
    total += static_cast<long>(p) * (i + 1);
    most = std::max(most, p);
  }
  std::cout << "checksum " << total << ' ' << most << '\n';
  return 0;
}
