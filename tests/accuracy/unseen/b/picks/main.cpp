#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <vector>

struct Station {
  double x, y;
};

struct Pick {
  double time;
  int station;
  float amplitude;
};

struct Earlier {
  bool operator()(const Pick& a, const Pick& b) const {
    if (a.time != b.time) return a.time < b.time;
    return a.station < b.station;
  }
};

class Network {
 public:
  explicit Network(int n, std::mt19937& gen) : sites_(n), reach_(static_cast<std::size_t>(n) * n) {
    for (auto& s : sites_) {
      s.x = 200.0 * (gen() * 0x1.0p-32);
      s.y = 200.0 * (gen() * 0x1.0p-32);
    }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double d = std::hypot(sites_[i].x - sites_[j].x, sites_[i].y - sites_[j].y);
        reach_[static_cast<std::size_t>(i) * n + j] = d / 5.8 + 0.05;
      }
  }
  int size() const { return static_cast<int>(sites_.size()); }
  double reach(int a, int b) const { return reach_[static_cast<std::size_t>(a) * size() + b]; }
  const Station& site(int i) const { return sites_[i]; }

 private:
  std::vector<Station> sites_;
  std::vector<double> reach_;
};

class Stream {
 public:
  void add(const Pick& p) { live_.insert(p); }

  void expire(double before) {
    while (!live_.empty() && live_.begin()->time < before) live_.erase(live_.begin());
  }

  template <class Visit>
  void around(double time, double span, Visit&& visit) const {
    const Pick key{time - span, -1, 0.0f};
    auto it = std::lower_bound(live_.begin(), live_.end(), key, Earlier{});
    for (; it != live_.end() && it->time <= time + span; ++it) visit(*it);
  }

  std::size_t size() const { return live_.size(); }

 private:
  std::set<Pick, Earlier> live_;
};

static std::vector<Pick> synthesise(const Network& net, int events, std::mt19937& gen) {
  std::vector<Pick> out;
  out.reserve(static_cast<std::size_t>(events) * 24);
  double origin = 0.0;
  for (int e = 0; e < events; ++e) {
    origin += 4.0 * (gen() * 0x1.0p-32);
    const double x = 200.0 * (gen() * 0x1.0p-32);
    const double y = 200.0 * (gen() * 0x1.0p-32);
    const float magnitude = 1.0f + 3.0f * static_cast<float>(gen() * 0x1.0p-32);
    for (int k = 0; k < 12; ++k) {
      const int s = static_cast<int>(gen() % net.size());
      const double d = std::hypot(net.site(s).x - x, net.site(s).y - y);
      out.push_back({origin + d / 5.8, s, magnitude / static_cast<float>(1.0 + 0.01 * d)});
      out.push_back({origin + d / 3.4, s, 1.6f * magnitude / static_cast<float>(1.0 + 0.01 * d)});
    }
  }
  std::sort(out.begin(), out.end(), Earlier{});
  return out;
}

struct Summary {
  long triggers = 0;
  long partners = 0;
  double strength = 0.0;
  std::size_t deepest = 0;
};

static Summary associate(const Network& net, const std::vector<Pick>& picks, double keep,
                         double delay, double span) {
  Summary s;
  Stream stream;
  for (const Pick& p : picks) {
    stream.add(p);
    stream.expire(p.time - keep);
    const double centre = p.time - delay;
    int matched = 0;
    double sum = 0.0;
    stream.around(centre, span, [&](const Pick& q) {
      if (std::fabs(q.time - centre) <= net.reach(p.station, q.station)) {
        ++matched;
        sum += q.amplitude;
      }
    });
    s.partners += matched;
    if (matched >= 20) {
      ++s.triggers;
      s.strength += sum / matched;
    }
    s.deepest = std::max(s.deepest, stream.size());
  }
  return s;
}

int main(int argc, char** argv) {
  const int events = argc > 1 ? std::atoi(argv[1]) : 6000;
  const double keep = argc > 2 ? std::atof(argv[2]) : 60.0;
  std::mt19937 gen(20110311u);
  const Network net(180, gen);
  const auto picks = synthesise(net, events, gen);
  const Summary s = associate(net, picks, keep, 6.0, 12.0);
  std::printf("picks %zu live %zu\n", picks.size(), s.deepest);
  std::printf("triggers %ld partners %ld strength %.6f\n", s.triggers, s.partners, s.strength);
  return 0;
}
