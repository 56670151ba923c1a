#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <vector>

struct Reading {
  int station;
  double value;
};

static std::vector<Reading> measure(int n, unsigned s) {
  std::vector<Reading> all(n);
  for (Reading &r : all) {
    s = s * 1664525u + 1013904223u;
    r.station = (int)((s >> 16) % 250);
    r.value = (s >> 8) / 65536.0;
  }
  return all;
}

static void write_report(const std::vector<Reading> &all, const char *path) {
  std::ofstream out(path);
  out << std::fixed << std::setprecision(3);
  for (const Reading &r : all) out << r.station << ' ' << r.value << std::endl;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 400000;
  unsigned seed = argc > 2 ? (unsigned)std::strtoul(argv[2], nullptr, 10) : 1u;
  std::vector<Reading> all = measure(n, seed);
  write_report(all, "report.txt");
  double s = 0.0;
  for (const Reading &r : all) s += r.value * (1 + r.station % 3);
  std::printf("checksum %.6f\n", s);
  return 0;
}
