#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

class Stream {
 public:
  explicit Stream(std::uint64_t id) : s_(id * 0x9e3779b97f4a7c15ull + 1) {}
  double uniform() {
    s_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = s_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return ((z >> 11) + 0.5) * 0x1.0p-53;
  }

 private:
  std::uint64_t s_;
};

class Medium {
 public:
  Medium(int bands, int layers) : bands_(bands), layers_(layers), path_(bands * layers, 0.0) {
    for (int b = 0; b < bands; ++b)
      for (int l = 0; l < layers; ++l) path_[b * layers + l] = evaluate(b, l);
  }

  double mean_path(int band, int layer) const { return path_[band * layers_ + layer]; }

  int bands() const { return bands_; }
  int layers() const { return layers_; }

 private:
  double evaluate(int band, int layer) const {
    const double pressure = std::exp(-0.12 * layer);
    const double nu = 400.0 + 25.0 * band;
    double k = 0.02;
    for (int line = 0; line < 300; ++line) {
      const double centre = 380.0 + 7.3 * line;
      const double width = 0.6 * pressure + 0.05;
      k += 0.3 * width / ((nu - centre) * (nu - centre) + width * width);
    }
    return 1.0 / (k * (0.2 + pressure));
  }

  int bands_, layers_;
  std::vector<double> path_;
};

struct Tally {
  std::array<long, 4> fate{};
  std::vector<long> absorbed;
  explicit Tally(int layers) : absorbed(layers, 0) {}
  void merge(const Tally& o) {
    for (std::size_t i = 0; i < fate.size(); ++i) fate[i] += o.fate[i];
    for (std::size_t i = 0; i < absorbed.size(); ++i) absorbed[i] += o.absorbed[i];
  }
};

class Photon {
 public:
  Photon(std::uint64_t id, Medium& m) : rng_(id), medium_(m), band_(static_cast<int>(id % m.bands())) {}

  void travel(Tally& t) {
    double z = 0.0, mu = 1.0;
    const int top = medium_.layers();
    for (int n = 0; n < 400; ++n) {
      const int layer = static_cast<int>(z);
      z += mu * step(layer);
      if (z < 0.0) {
        ++t.fate[0];
        return;
      }
      if (z >= top) {
        ++t.fate[1];
        return;
      }
      if (rng_.uniform() < 0.03) {
        ++t.fate[2];
        ++t.absorbed[static_cast<int>(z)];
        return;
      }
      mu = 2.0 * rng_.uniform() - 1.0;
    }
    ++t.fate[3];
  }

 private:
  double step(int layer) { return -std::log(rng_.uniform()) * medium_.mean_path(band_, layer); }

  Stream rng_;
  Medium& medium_;
  int band_;
};

static Tally simulate(Medium& medium, long photons, int workers) {
  std::vector<Tally> part(workers, Tally(medium.layers()));
  std::vector<std::thread> crew;
  for (int w = 0; w < workers; ++w)
    crew.emplace_back([&, w] {
      Tally mine(medium.layers());
      for (long id = w; id < photons; id += workers) Photon(id, medium).travel(mine);
      part[w] = mine;
    });
  for (auto& c : crew) c.join();
  Tally sum(medium.layers());
  for (const auto& p : part) sum.merge(p);
  return sum;
}

int main(int argc, char** argv) {
  const long photons = argc > 1 ? std::atol(argv[1]) : 1000000;
  Medium air(64, 40);
  const Tally t = simulate(air, photons, 2);
  std::printf("surface %ld space %ld absorbed %ld lost %ld\n", t.fate[0], t.fate[1], t.fate[2],
              t.fate[3]);
  for (int l = 0; l < air.layers(); l += 8) std::printf("layer %2d %ld\n", l, t.absorbed[l]);
  return 0;
}
