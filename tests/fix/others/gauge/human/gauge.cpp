#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct Reading {
  int hour;
  double level, flow;
};

class Archive {
 public:
  explicit Archive(int stations) {
    for (int s = 0; s < stations; s++) {
      names_.push_back("station" + std::to_string(s) + ".txt");
      files_.emplace_back(names_.back(), std::ios::trunc);
      files_.back() << std::fixed << std::setprecision(4);
    }
  }

  void store(int station, const Reading &r) {
    files_[station] << r.hour << ' ' << r.level << ' ' << r.flow << '\n';
  }

  std::vector<Reading> load(int station) {
    files_[station].flush();
    std::vector<Reading> all;
    std::ifstream in(names_[station]);
    Reading r;
    while (in >> r.hour >> r.level >> r.flow) all.push_back(r);
    return all;
  }

  int stations() const { return static_cast<int>(names_.size()); }

 private:
  std::vector<std::string> names_;
  std::vector<std::ofstream> files_;
};

class River {
 public:
  River(int stations, uint64_t seed) : state_(seed + 77), level_(stations, 1.5) {}

  Reading measure(int station, int hour) {
    double &l = level_[station];
    l += 0.1 * std::sin(0.26 * hour + station) + 0.2 * (random() - 0.5) - 0.05 * (l - 1.5);
    if (l < 0.05) l = 0.05;
    return {hour, l, 3.2 * std::pow(l, 1.6)};
  }

  bool heard() { return random() > 0.03; }

 private:
  double random() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 40) * (1.0 / 16777216.0);
  }

  uint64_t state_;
  std::vector<double> level_;
};

double volume(const std::vector<Reading> &all) {
  double v = 0.0;
  for (size_t k = 1; k < all.size(); k++)
    v += 0.5 * (all[k].flow + all[k - 1].flow) * (all[k].hour - all[k - 1].hour);
  return v;
}

}  // namespace

int main(int argc, char **argv) {
  int stations = argc > 1 ? std::atoi(argv[1]) : 12;
  int hours = argc > 2 ? std::atoi(argv[2]) : 16000;
  River river(stations, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  Archive archive(stations);
  for (int h = 0; h < hours; h++)
    for (int s = 0; s < stations; s++) {
      Reading r = river.measure(s, h);
      if (river.heard()) archive.store(s, r);
    }
  double sum = 0.0, high = 0.0;
  size_t count = 0;
  for (int s = 0; s < archive.stations(); s++) {
    std::vector<Reading> all = archive.load(s);
    for (const Reading &r : all) high = std::max(high, r.level);
    sum += volume(all) * (s + 1);
    count += all.size();
  }
  std::cout << std::setprecision(12) << "readings " << count << " high " << high << "\nchecksum " << sum << '\n';
}
