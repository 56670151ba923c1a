#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

class Random {
 public:
  explicit Random(uint64_t s) : s_(s * 0x9e3779b97f4a7c15ULL + 0x1234567ULL) {}
  double operator()() {
    s_ ^= s_ >> 12;
    s_ ^= s_ << 25;
    s_ ^= s_ >> 27;
    return ((s_ * 0x2545f4914f6cdd1dULL) >> 11) * (1.0 / 9007199254740992.0) + 1e-17;
  }

 private:
  uint64_t s_;
};

class Grid {
 public:
  explicit Grid(int n) : n_(n), cell_(static_cast<size_t>(n) * n * n, 0.0) {}
  int side() const { return n_; }
  size_t size() const { return cell_.size(); }
  double *data() { return cell_.data(); }
  double operator[](size_t k) const { return cell_[k]; }
  void clear() { cell_.assign(cell_.size(), 0.0); }
  bool deposit(double x, double y, double z, double e) {
    if (x < 0 || y < 0 || z < 0 || x >= n_ || y >= n_ || z >= n_) return false;
    cell_[(static_cast<size_t>(z) * n_ + static_cast<size_t>(y)) * n_ + static_cast<size_t>(x)] += e;
    return true;
  }
  void add(const Grid &o) {
    for (size_t k = 0; k < cell_.size(); k++) cell_[k] += o.cell_[k];
  }
  double total() const {
    double s = 0.0;
    for (double c : cell_) s += c;
    return s;
  }

 private:
  int n_;
  std::vector<double> cell_;
};

static void photon(Grid &g, Random &u, double power) {
  double x = 0.5 * g.side() + u() - 0.5, y = 0.5 * g.side() + u() - 0.5, z = 0.0;
  double dx = 0.0, dy = 0.0, dz = 1.0, w = 1.0;
  while (w > 0.02) {
    double step = -std::log(u()) * g.side() * 0.06;
    x += dx * step;
    y += dy * step;
    z += dz * step;
    double loss = w * 0.15;
    if (!g.deposit(x, y, z, loss * power)) return;
    w -= loss;
    dz = 2.0 * u() - 1.0;
    double a = 6.283185307179586 * u(), r = std::sqrt(1.0 - dz * dz);
    dx = r * std::cos(a);
    dy = r * std::sin(a);
  }
}

class Treatment {
 public:
  Treatment(int side, int photons, uint64_t seed) : photons_(photons), seed_(seed), batch_(side), sum_(side), map_(side) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  void shoot(int b) {
    double power = 1.0 + 1.0 / (1.0 + absorbed_ / photons_);
    batch_.clear();
    for (int i = rank_; i < photons_; i += size_) {
      Random u(seed_ + static_cast<uint64_t>(b) * photons_ + i);
      photon(batch_, u, power);
    }
    MPI_Allreduce(batch_.data(), sum_.data(), static_cast<int>(sum_.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    map_.add(sum_);
    absorbed_ += sum_.total();
  }

  void report() {
    if (rank_ != 0) return;
    double s = 0.0, peak = 0.0;
    for (size_t k = 0; k < map_.size(); k++) {
      s += map_[k] * (1 + k % 13);
      if (map_[k] > peak) peak = map_[k];
    }
    std::printf("absorbed %.10e peak %.10e\nchecksum %.10e\n", absorbed_, peak, s);
  }

 private:
  int photons_, rank_ = 0, size_ = 1;
  uint64_t seed_;
  double absorbed_ = 0.0;
  Grid batch_, sum_, map_;
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  {
    int side = argc > 1 ? std::atoi(argv[1]) : 96;
    int photons = argc > 2 ? std::atoi(argv[2]) : 4000;
    int batches = argc > 3 ? std::atoi(argv[3]) : 90;
    Treatment t(side, photons, argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 17);
    for (int b = 0; b < batches; b++) t.shoot(b);
    t.report();
  }
  MPI_Finalize();
}
