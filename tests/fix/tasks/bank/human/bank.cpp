#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kAccounts = 64;

struct Bank {
  std::mutex lock;
  int64_t balance[kAccounts] = {};
  int64_t turnover = 0;
};

static uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

static void post(Bank &bank, int first, int last, uint64_t seed) {
  int64_t balance[kAccounts] = {}, turnover = 0;
  for (int i = first; i < last; i++) {
    uint64_t h = mix(seed * 1000003ULL + i);
    int64_t amount = (int64_t)(h % 2001) - 1000;
    balance[(h >> 32) % kAccounts] += amount;
    turnover += amount < 0 ? -amount : amount;
  }
  std::lock_guard<std::mutex> guard(bank.lock);
  for (int k = 0; k < kAccounts; k++) bank.balance[k] += balance[k];
  bank.turnover += turnover;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 3000000;
  unsigned seed = argc > 2 ? (unsigned)std::strtoul(argv[2], nullptr, 10) : 1u;
  Bank bank;
  std::vector<std::thread> crew;
  for (int t = 0; t < 2; t++) crew.emplace_back(post, std::ref(bank), (int)((long)n * t / 2), (int)((long)n * (t + 1) / 2), seed);
  for (std::thread &t : crew) t.join();
  uint64_t h = 17;
  for (int64_t b : bank.balance) h = mix(h ^ (uint64_t)b);
  std::printf("checksum %016llx %lld\n", (unsigned long long)h, (long long)bank.turnover);
  return 0;
}
