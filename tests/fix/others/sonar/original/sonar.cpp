#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

using Trace = std::vector<double>;

class Channel {
 public:
  void submit(const Trace *t) {
    std::unique_lock<std::mutex> hold(gate_);
    trace_ = t;
    ready_.notify_one();
    idle_.wait(hold, [this] { return trace_ == nullptr; });
  }
  void close() {
    std::lock_guard<std::mutex> hold(gate_);
    closed_ = true;
    ready_.notify_one();
  }
  const Trace *receive() {
    std::unique_lock<std::mutex> hold(gate_);
    ready_.wait(hold, [this] { return trace_ != nullptr || closed_; });
    return trace_;
  }
  void release() {
    std::lock_guard<std::mutex> hold(gate_);
    trace_ = nullptr;
    idle_.notify_one();
  }

 private:
  std::mutex gate_;
  std::condition_variable ready_, idle_;
  const Trace *trace_ = nullptr;
  bool closed_ = false;
};

struct Detector {
  double low = 0.0, band = 0.0, power = 0.0, peak = 0.0;

  void listen(const Trace &t) {
    double e = 0.0;
    for (double x : t) {
      double next = 0.88 * low + 0.12 * (x - 0.3 * band);
      band = 0.8 * band + 0.2 * (next - low);
      low = next;
      e += low * low;
    }
    power += e;
    if (e > peak) peak = e;
  }
};

class Water {
 public:
  Water(int samples, uint64_t seed) : noise_(seed * 7919 + 1), trace_(samples) {
    for (double &x : trace_) x = random() - 0.5;
  }

  const Trace &ping() {
    double left = 0.2 * random(), back = 0.0, swell = 0.03 * (random() - 0.4);
    for (double &x : trace_) {
      x = 0.7 * x + 0.2 * left - 0.05 * back + swell;
      back = 0.5 * back + 0.3 * x;
      left = x - 0.1 * back;
    }
    trace_[trace_.size() / 3] += 3.0 + random();
    return trace_;
  }

 private:
  double random() {
    noise_ = noise_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(noise_ >> 33) / 2147483648.0;
  }

  uint64_t noise_;
  Trace trace_;
};

int main(int argc, char **argv) {
  int pings = argc > 1 ? std::atoi(argv[1]) : 900;
  int samples = argc > 2 ? std::atoi(argv[2]) : 100000;
  Water water(samples, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 5);
  Detector detector;
  Channel channel;
  std::thread listener([&] {
    while (const Trace *t = channel.receive()) {
      detector.listen(*t);
      channel.release();
    }
  });
  for (int p = 0; p < pings; p++) channel.submit(&water.ping());
  channel.close();
  listener.join();
  std::printf("checksum %.10e %.10e %.10e\n", detector.power, detector.peak, detector.low);
  return 0;
}
