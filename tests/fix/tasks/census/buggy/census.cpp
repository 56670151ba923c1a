#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Region {
  int id;
  std::vector<double> income;
  std::vector<int> age;
};

static std::vector<Region> load(int n, int people, unsigned seed) {
  std::vector<Region> out;
  for (int r = 0; r < n; r++) {
    Region g;
    g.id = r;
    for (int p = 0; p < people; p++) {
      g.income.push_back(1000.0 + (r * 17 + p * 31 + seed % 4096) % 4096);
      g.age.push_back((r + p * 7) % 90);
    }
    out.push_back(g);
  }
  return out;
}

static double share(const std::vector<double> &v, const std::vector<int> &age, int lo, int hi) {
  double s = 0.0;
  for (size_t k = 0; k < age.size(); k += 16)
    if (age[k] >= lo && age[k] <= hi) s += v[k];
  return s;
}

static double spread(const std::vector<double> &v) {
  double m = 0.0, q = 0.0;
  for (double x : v) m += x;
  m /= v.size();
  for (double x : v) q += (x - m) * (x - m);
  return std::sqrt(q / v.size());
}

static double survey(const std::vector<Region> &all) {
  double s = 0.0;
  for (const Region &r : all) {
    for (int g = 0; g < 9; g++) s += share(r.income, r.age, g * 10, g * 10 + 10);
    if (r.id % 6 == 0) s += spread(r.income);
  }
  return s;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 120;
  int people = argc > 2 ? std::atoi(argv[2]) : 50000;
  unsigned seed = argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 0u;
  std::vector<Region> all = load(24, people, seed);
  double s = 0.0;
  for (int t = 0; t < rounds; t++) {
    s += survey(all);
    all[t % all.size()].income[t % people] += 1.0;
  }
  std::printf("checksum %.10e\n", s);
  return 0;
}
