#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Particle {
  uint64_t id;
  double w;
};

class Registry {
 public:
  double merge(const Particle &p) {
    for (size_t k = 0; k < seen_.size(); k++)
      if (seen_[k].id == p.id) {
        seen_[k].w += p.w;
        return seen_[k].w;
      }
    seen_.push_back(p);
    return p.w;
  }
  size_t size() const { return seen_.size(); }

 private:
  std::vector<Particle> seen_;
};

static uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

static std::vector<Particle> batch(int n, int b, int range, unsigned seed) {
  std::vector<Particle> out(n);
  for (int i = 0; i < n; i++) {
    uint64_t h = mix((uint64_t)b * n + i + 1 + 1000003ULL * seed);
    out[i].id = mix(h % range);
    double w = (h >> 40) * 1e-6;
    for (int k = 0; k < 200; k++) w = w * 0.995 + 0.001 / (1.0 + w);
    out[i].w = w;
  }
  return out;
}

static double ingest(Registry &reg, const std::vector<Particle> &in) {
  double s = 0.0;
  for (const Particle &p : in) s += reg.merge(p);
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 20000;
  int batches = argc > 2 ? std::atoi(argv[2]) : 24;
  unsigned seed = argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 0u;
  Registry reg;
  double s = 0.0;
  for (int b = 0; b < batches; b++) s += ingest(reg, batch(n, b, 40000, seed));
  std::printf("checksum %.11e %zu\n", s, reg.size());
  return 0;
}
