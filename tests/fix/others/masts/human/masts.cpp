#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Site {
  double x, y, reach, value;
  std::vector<int> near;
};

struct Plan {
  std::vector<int> chosen;
  std::vector<int> blocked;
  double worth = 0.0;
};

class Planner {
 public:
  Planner(int sites, int most, uint32_t seed) : most_(most), state_(seed * 2u + 1u) {
    for (int i = 0; i < sites; i++) {
      Site s;
      s.x = next();
      s.y = next();
      s.reach = 0.06 + 0.12 * next();
      s.value = 1.0 + 9.0 * next();
      sites_.push_back(s);
    }
    for (int i = 0; i < sites; i++)
      for (int j = i + 1; j < sites; j++)
        if (std::hypot(sites_[i].x - sites_[j].x, sites_[i].y - sites_[j].y) < sites_[i].reach + sites_[j].reach)
          sites_[i].near.push_back(j);
    plans_.assign(most + 1, 0);
  }

  void run() {
    Plan empty;
    empty.blocked.assign(sites_.size(), 0);
    extend(empty, 0);
  }

  void report() const {
    for (size_t k = 0; k < plans_.size(); k++) std::printf("%zu: %lld\n", k, plans_[k]);
    std::printf("best");
    for (int s : best_.chosen) std::printf(" %d", s);
    std::printf("\nchecksum %.10e %.10e\n", best_.worth, sum_);
  }

 private:
  double next() {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) * (1.0 / 16777216.0);
  }

  double gain(const Plan &plan, int s) const {
    double g = sites_[s].value;
    for (int o : plan.chosen) {
      double dx = sites_[o].x - sites_[s].x, dy = sites_[o].y - sites_[s].y;
      g += 0.5 * (dx * dx + dy * dy);
    }
    return g;
  }

  void extend(Plan &plan, int from) {
    plans_[plan.chosen.size()]++;
    sum_ += plan.worth;
    if (plan.worth > best_.worth) best_ = plan;
    if (static_cast<int>(plan.chosen.size()) == most_) return;
    for (int s = from; s < static_cast<int>(sites_.size()); s++) {
      if (plan.blocked[s]) continue;
      double before = plan.worth;
      plan.worth += gain(plan, s);
      plan.chosen.push_back(s);
      for (int o : sites_[s].near) plan.blocked[o]++;
      extend(plan, s + 1);
      for (int o : sites_[s].near) plan.blocked[o]--;
      plan.chosen.pop_back();
      plan.worth = before;
    }
  }

  int most_;
  uint32_t state_;
  std::vector<Site> sites_;
  std::vector<long long> plans_;
  Plan best_;
  double sum_ = 0.0;
};

int main(int argc, char **argv) {
  int sites = argc > 1 ? std::atoi(argv[1]) : 160;
  int most = argc > 2 ? std::atoi(argv[2]) : 4;
  Planner p(sites, most, argc > 3 ? static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 11u);
  p.run();
  p.report();
}
