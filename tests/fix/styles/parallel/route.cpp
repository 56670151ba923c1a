#include <omp.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

constexpr int kStops = 8;
using Tour = std::array<std::uint8_t, kStops>;

struct Point {
  float x, y;
};

struct Best {
  float length = 1e30f;
  std::uint64_t seed = 0;
  double sum = 0.0;
};

Tour shuffle(std::uint64_t seed) {
  Tour t;
  for (int i = 0; i < kStops; i++) t[i] = static_cast<std::uint8_t>(i);
  std::uint64_t h = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (int i = kStops - 1; i > 0; i--) {
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ULL;
    std::swap(t[i], t[(h >> 33) % (i + 1)]);
  }
  return t;
}

float length(const std::vector<Point> &p, const Tour &t) {
  float s = 0;
  for (int i = 0; i < kStops; i++) {
    const Point &a = p[t[i]], &b = p[t[(i + 1) % kStops]];
    s += std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
  }
  return s;
}

Best search(const std::vector<Point> &p, std::int64_t tries) {
  Best best;
  omp_lock_t guard;
  omp_init_lock(&guard);
#pragma omp parallel for
  for (std::int64_t k = 0; k < tries; k++) {
    float len = length(p, shuffle(k));
    omp_set_lock(&guard);
    best.sum += len;
    if (len < best.length || (len == best.length && std::uint64_t(k) < best.seed)) {
      best.length = len;
      best.seed = k;
    }
    omp_unset_lock(&guard);
  }
  omp_destroy_lock(&guard);
  return best;
}

}

int main(int argc, char **argv) {
  std::int64_t tries = argc > 1 ? std::atoll(argv[1]) : 8000000;
  std::vector<Point> p;
  for (int i = 0; i < kStops; i++)
    p.push_back({10.0f * ((i * 37) % 11), 7.0f * ((i * 53) % 13)});
  Best b = search(p, tries);
  std::printf("checksum %.4f %llu %.5e\n", b.length, (unsigned long long)b.seed, b.sum);
  return 0;
}
