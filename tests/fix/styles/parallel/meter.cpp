#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Meter {
 public:
  void add(std::int64_t watt) {
    std::lock_guard<std::mutex> hold(mutex_);
    total_ += watt;
    if (watt > peak_) peak_ = watt;
    ++samples_;
  }
  std::int64_t total() const { return total_; }
  std::int64_t peak() const { return peak_; }
  std::int64_t samples() const { return samples_; }

 private:
  std::mutex mutex_;
  std::int64_t total_ = 0, peak_ = 0, samples_ = 0;
};

using Load = std::vector<std::int32_t>;

static Load profile(std::size_t n) {
  Load l(n);
  std::uint32_t s = 31u;
  for (auto &w : l) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    w = static_cast<std::int32_t>(s % 3500u);
  }
  return l;
}

static void feed(Meter &meter, const Load &load, std::size_t lo, std::size_t hi) {
  for (auto it = load.begin() + lo; it != load.begin() + hi; ++it) {
    std::int64_t w = *it;
    meter.add(w > 3000 ? 3000 + (w - 3000) / 2 : w);
  }
}

int main(int argc, char **argv) {
  std::size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000000;
  unsigned crew = argc > 2 ? std::atoi(argv[2]) : 4;
  Load load = profile(n);
  Meter meter;
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < crew; ++t)
    pool.emplace_back(feed, std::ref(meter), std::cref(load), n * t / crew, n * (t + 1) / crew);
  for (auto &th : pool) th.join();
  std::printf("checksum %lld %lld %lld\n", (long long)meter.total(), (long long)meter.peak(),
              (long long)meter.samples());
  return 0;
}
