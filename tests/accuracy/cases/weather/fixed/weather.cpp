#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static std::vector<double> wind(1 << 20), rain(1 << 20);

static void advance() {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < wind.size(); i++) wind[i] = std::sqrt(wind[i] * 1.01 + rain[i] * 0.5 + 1.0);
}

static void condense() {
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < rain.size(); i++) rain[i] = std::sqrt(wind[i] / (rain[i] + 0.5)) + std::sqrt(rain[i] + 1.5) / 3.0 + std::sqrt(wind[i] * 0.5 + rain[i]);
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 150;
  for (size_t i = 0; i < wind.size(); i++) wind[i] = i % 17, rain[i] = i % 11;
  for (int s = 0; s < steps; s++) {
    advance();
    condense();
  }
  double sum = 0;
  for (double x : rain) sum += x;
  std::printf("checksum %.8e\n", sum);
}
