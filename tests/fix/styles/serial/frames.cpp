#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

using Pixel = uint32_t;

class Sensor {
 public:
  explicit Sensor(size_t n) : base_(n) {
    Pixel x = 1;
    for (Pixel &p : base_) {
      x = x * 22695477u + 1u;
      p = x >> 22;
    }
  }
  void expose(Pixel *dst, Pixel t) const {
    for (size_t i = 0; i < base_.size(); ++i) dst[i] = base_[i] + (t & 63);
  }
  size_t size() const { return base_.size(); }

 private:
  std::vector<Pixel> base_;
};

struct Stats {
  uint64_t bright = 0;
  uint64_t total = 0;
};

class Recorder {
 public:
  explicit Recorder(const Sensor &s) : sensor_(s) {}

  void shoot(Pixel t) {
    std::unique_ptr<Pixel[]> frame(new Pixel[sensor_.size()]);
    sensor_.expose(frame.get(), t);
    measure(frame.get(), 600 + (t & 31));
  }

  const Stats &stats() const { return stats_; }

 private:
  void measure(const Pixel *p, Pixel limit) {
    uint64_t bright = 0, total = 0;
    for (size_t i = 0; i < sensor_.size(); ++i) {
      bright += p[i] > limit;
      total += p[i];
    }
    stats_.bright += bright;
    stats_.total += total;
  }

  const Sensor &sensor_;
  Stats stats_;
};

int main(int argc, char **argv) {
  size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16000000;
  Pixel shots = argc > 2 ? std::atoi(argv[2]) : 100;
  Sensor sensor(n);
  Recorder rec(sensor);
  for (Pixel t = 0; t < shots; ++t) rec.shoot(t * 7);
  std::cout << "checksum " << rec.stats().bright << ' ' << rec.stats().total << '\n';
  return 0;
}
