#include <array>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <vector>

struct Bird {
  std::array<float, 3> pos;
  std::array<float, 3> vel;
  std::array<float, 16> genes;
  int age;
  int nest;
  float energy;
  float size;
};

class Flock {
 public:
  explicit Flock(std::size_t n) : birds_(n) {
    int i = 0;
    for (auto &b : birds_) {
      b.pos = {0.1f * i, 0.2f, 0.3f};
      b.vel = {1.0f, 0.0f, 0.01f * (i % 10)};
      b.genes.fill(0.5f);
      b.age = i % 12;
      b.nest = i % 300;
      b.energy = 40.0f + i % 61;
      b.size = 1.0f + 0.01f * (i % 30);
      ++i;
    }
  }

  void forage(float gain, float cost) {
    for (auto &b : birds_)
      b.energy = b.energy < 50.0f ? b.energy + gain : b.energy - cost;
  }

  double spread() const {
    return std::accumulate(birds_.begin(), birds_.end(), 0.0,
                           [](double s, const Bird &b) { return s + b.size * b.genes[3]; });
  }

  double reserves() const {
    double s = 0.0;
    for (const auto &b : birds_) s += b.energy;
    return s;
  }

 private:
  std::vector<Bird> birds_;
};

int main(int argc, char **argv) {
  std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000000;
  int days = argc > 2 ? std::atoi(argv[2]) : 200;
  Flock flock(n);
  double sum = 0.0;
  for (int d = 0; d < days; ++d) {
    flock.forage(0.5f + 0.25f * (d % 3), 0.75f);
    if (d % 20 == 0) sum += flock.reserves();
  }
  std::cout << std::scientific << std::setprecision(8) << "checksum " << sum << ' '
            << flock.spread() << '\n';
}
