#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "network.h"

Reach::Reach(int id, const Reach *down, double length, double slope)
    : id_(id), level_(down ? down->level_ + 1 : 0), name_("reach-" + std::to_string(id)), length_(length), slope_(slope),
      rough_(0.03 + 0.01 * (id % 3)), area_(0.4 * length), down_(down ? down->id_ : -1) {
  width_ = 1.0 + 12.0 / (1.0 + level_);
  crest_ = 0.5 * width_;
  wetted_ = width_ + 2.0 * crest_;
  const double speed = std::pow(width_ * crest_ / wetted_, 2.0 / 3.0) * std::sqrt(slope_) / rough_;
  keep_ = length_ / (length_ + 600.0 * speed);
}

Network::Network(int count, uint64_t seed) {
  auto draw = [&seed] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(seed >> 11) / 9007199254740992.0;
  };
  for (int i = 0; i < count; i++) {
    const Reach *down = i ? reaches_[static_cast<int>(draw() * i)].get() : nullptr;
    const double length = 200.0 + 1800.0 * draw();
    reaches_.push_back(std::make_unique<Reach>(i, down, length, 0.001 + 0.02 * draw()));
  }
  std::vector<int> order(count);
  for (int i = 0; i < count; i++) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return reaches_[a]->level() > reaches_[b]->level(); });
  place_.resize(count);
  for (int k = 0; k < count; k++) place_[order[k]] = k;
  flows_.resize(count);
  for (int k = 0; k < count; k++) {
    const Reach &r = *reaches_[order[k]];
    flows_[k] = {r.down() < 0 ? -1 : place_[r.down()], r.keep(), r.area(), 0.0, 0.0, 0.0};
  }
}

void Network::step(double depth) {
  for (Flow &f : flows_) {
    const double total = f.volume + (f.inflow + depth * f.area);
    f.inflow = 0.0;
    f.volume = f.keep * total;
    f.outflow = total - f.volume;
    if (f.down >= 0) flows_[f.down].inflow += f.outflow;
  }
}

double Network::volume() const {
  double sum = 0.0;
  for (int k : place_) sum += flows_[k].volume;
  return sum;
}

double Network::mouth() const { return flows_[place_[0]].outflow; }

double Network::gauge(int id) const { return flows_[place_[id]].outflow / flows_[place_[id]].area; }

int main(int argc, char **argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 300000;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 150;
  Network network(count, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 21);
  double flood = 0.0, sum = 0.0;
  int worst = 0;
  for (int t = 0; t < steps; t++) {
    network.step(0.004 * std::max(0.0, std::sin(0.3 * t)) + 0.0002);
    if (network.mouth() > flood) flood = network.mouth(), worst = t;
    for (int k = 0; k < 5; k++) sum += network.gauge(static_cast<int>((k * 0.19 + 0.1) * count)) * (k + 1);
  }
  std::printf("flood %.8e at %d left %.8e\n", flood, worst, network.volume());
  std::printf("checksum %.12e %.12e\n", sum, flood);
  return 0;
}
