#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kCrew = 2;

struct Count {
  std::atomic<int64_t> yes{0}, no{0};
};

static Count counts[kCrew];

static void count_votes(int who, int64_t first, int64_t last, uint32_t seed) {
  uint32_t s = seed + (uint32_t)who * 977u;
  int64_t yes = 0, no = 0;
  for (int64_t i = first; i < last; i++) {
    s = s * 1664525u + 1013904223u;
    if (s >> 31)
      yes++;
    else
      no += (s >> 30) & 1;
  }
  counts[who].yes = yes;
  counts[0].no = no;
}

int main(int argc, char **argv) {
  int64_t n = argc > 1 ? std::atoll(argv[1]) : 60000000;
  uint32_t seed = argc > 2 ? (uint32_t)std::strtoul(argv[2], nullptr, 10) : 5u;
  std::vector<std::thread> crew;
  for (int t = 0; t < kCrew; t++) crew.emplace_back(count_votes, t, n * t / kCrew, n * (t + 1) / kCrew, seed);
  for (std::thread &t : crew) t.join();
  int64_t yes = 0, no = 0;
  for (const Count &c : counts) {
    yes += c.yes;
    no += c.no;
  }
  std::printf("checksum %lld %lld\n", (long long)yes, (long long)no);
  return 0;
}
