#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Chain {
  int tag = 0;
  std::vector<double> x, y, z, charge;
  size_t size() const { return x.size(); }
};

class Source {
 public:
  explicit Source(uint64_t seed) : s_(seed * 2654435761ULL + 88172645463325252ULL) {}
  double next() {
    s_ ^= s_ << 13;
    s_ ^= s_ >> 7;
    s_ ^= s_ << 17;
    return (double)(s_ >> 11) / 9007199254740992.0;
  }

 private:
  uint64_t s_;
};

static Chain grow(Source &src, int tag, int longest) {
  Chain c;
  c.tag = tag;
  int len = 12 + (int)(src.next() * longest);
  double x = 0.0, y = 0.0, z = 0.0;
  for (int i = 0; i < len; i++) {
    x += src.next() - 0.45;
    y += 1.5 * std::cos(1.74 * i) * 0.7 + 0.2 * src.next();
    z += 1.5 * std::sin(1.74 * i) * 0.7 - 0.2 * src.next();
    c.x.push_back(x);
    c.y.push_back(y);
    c.z.push_back(z);
    c.charge.push_back(src.next() < 0.4 ? 1.0 : -0.6);
  }
  return c;
}

static double fold(const Chain &c) {
  double pull = 0.0, bump = 0.0;
  for (size_t i = 0; i + 3 < c.size(); i++)
    for (size_t j = i + 3; j < c.size(); j++) {
      double dx = c.x[i] - c.x[j], dy = c.y[i] - c.y[j], dz = c.z[i] - c.z[j];
      double r2 = dx * dx + dy * dy + dz * dz + 0.3;
      pull += c.charge[i] * c.charge[j] / std::sqrt(r2);
      bump += 1.0 / (r2 * r2 * r2);
    }
  return pull + 0.05 * bump;
}

class Library {
 public:
  Library(int count, int longest, uint64_t seed) {
    Source src(seed);
    for (int k = 0; k < count; k++) chains_.push_back(grow(src, k, longest));
    std::sort(chains_.begin(), chains_.end(), [](const Chain &a, const Chain &b) {
      return a.size() != b.size() ? a.size() < b.size() : a.tag < b.tag;
    });
  }

  std::vector<double> energies() const {
    long n = (long)chains_.size();
    std::vector<double> out(n, 0.0);
    long half = (n + 1) / 2;
#pragma omp parallel for schedule(dynamic, 4)
    for (long k = 0; k < half; k++) {
      long far = n - 1 - k;
      out[far] = fold(chains_[far]);
      if (far > k) out[k] = fold(chains_[k]);
    }
    return out;
  }

  double weight(long k) const { return 1.0 / (1.0 + chains_[k].tag % 5); }

 private:
  std::vector<Chain> chains_;
};

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 1600;
  int longest = argc > 2 ? std::atoi(argv[2]) : 900;
  uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 7;
  Library lib(count, longest, seed);
  std::vector<double> e = lib.energies();
  double sum = 0.0, low = 0.0;
  for (size_t k = 0; k < e.size(); k++) {
    sum += lib.weight((long)k) * std::fabs(e[k]);
    low = std::min(low, e[k]);
  }
  std::printf("checksum %.10e %.10e\n", sum, low);
  return 0;
}
