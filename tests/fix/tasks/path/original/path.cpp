#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <vector>

static std::vector<uint8_t> terrain(int n, uint32_t s) {
  std::vector<uint8_t> cost((size_t)n * n);
  for (uint8_t &c : cost) {
    s = s * 1664525u + 1013904223u;
    c = (uint8_t)(1 + (s >> 28));
  }
  return cost;
}

static std::vector<uint32_t> distances(const std::vector<uint8_t> &cost, int n) {
  std::vector<uint32_t> far((size_t)n * n, UINT32_MAX);
  std::vector<std::vector<uint32_t>> ring(17);
  far[0] = 0;
  ring[0].push_back(0);
  size_t waiting = 1;
  for (uint32_t d = 0; waiting > 0; d++) {
    std::vector<uint32_t> now;
    now.swap(ring[d % 17]);
    waiting -= now.size();
    for (uint32_t c : now) {
      if (far[c] != d) continue;
      uint32_t x = c % n, y = c / n;
      auto reach = [&](uint32_t to) {
        if (d + cost[to] < far[to]) {
          far[to] = d + cost[to];
          ring[far[to] % 17].push_back(to);
          waiting++;
        }
      };
      if (x > 0) reach(c - 1);
      if (x + 1 < (uint32_t)n) reach(c + 1);
      if (y > 0) reach(c - n);
      if (y + 1 < (uint32_t)n) reach(c + n);
    }
  }
  return far;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1400;
  uint32_t seed = argc > 2 ? (uint32_t)std::strtoul(argv[2], nullptr, 10) : 1u;
  std::vector<uint32_t> far = distances(terrain(n, seed), n);
  uint64_t h = 17;
  for (uint32_t d : far) h = h * 31 + d;
  std::printf("checksum %016llx %u\n", (unsigned long long)h, far.back());
  return 0;
}
