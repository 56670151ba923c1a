#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

template <typename T>
class Raster {
 public:
  Raster(int w, int h) : w_(w), h_(h), px_(static_cast<size_t>(w) * h) {}
  int width() const { return w_; }
  int height() const { return h_; }
  T &operator()(int x, int y) { return px_[static_cast<size_t>(y) * w_ + x]; }
  const T &operator()(int x, int y) const {
    return px_[static_cast<size_t>(y) * w_ + x];
  }
  void swap(Raster &o) { px_.swap(o.px_); }

 private:
  int w_, h_;
  std::vector<T> px_;
};

using Image = Raster<int32_t>;

static void paint(Image &im) {
  uint32_t s = 77;
  for (int y = 0; y < im.height(); ++y)
    for (int x = 0; x < im.width(); ++x) {
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
      im(x, y) = static_cast<int32_t>(s & 1023);
    }
}

static void sharpen(const Image &in, Image &out) {
  for (int x = 1; x + 1 < in.width(); ++x) {
    for (int y = 1; y + 1 < in.height(); ++y) {
      int32_t v = 8 * in(x, y) - in(x - 1, y) - in(x + 1, y) - in(x, y - 1) - in(x, y + 1);
      out(x, y) = std::clamp(v / 4, 0, 1023);
    }
  }
}

static long long histogram(const Image &im, std::vector<long long> &bins) {
  std::fill(bins.begin(), bins.end(), 0);
  for (int y = 0; y < im.height(); ++y)
    for (int x = 0; x < im.width(); ++x) ++bins[im(x, y) >> 4];
  long long acc = 0;
  for (size_t b = 0; b < bins.size(); ++b)
    acc += static_cast<long long>(b + 1) * bins[b];
  return acc;
}

int main(int argc, char **argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 2600;
  const int passes = argc > 2 ? std::atoi(argv[2]) : 16;
  Image a(side, side), b(side, side);
  paint(a);
  std::vector<long long> bins(64);
  long long sum = 0;
  for (int p = 0; p < passes; ++p) {
    sharpen(a, b);
    a.swap(b);
    sum += histogram(a, bins);
  }
  std::cout << "checksum " << sum << "\n";
  return 0;
}
