#include <cstdio>
#include <cstdlib>
#include <vector>

struct Image {
  int n;
  std::vector<double> v;
  double &at(int x, int y) { return v[(size_t)y * n + x]; }
};

static Image paint(int n, unsigned s) {
  Image im{n, std::vector<double>((size_t)n * n)};
  for (double &p : im.v) {
    s = s * 1664525u + 1013904223u;
    p = (s >> 8) / 16777216.0;
  }
  return im;
}

static void across(Image &im, double a) {
  for (int y = 0; y < im.n; y++) {
    double last = im.at(0, y);
    for (int x = 0; x < im.n; x++) last = im.at(x, y) = a * im.at(x, y) + (1.0 - a) * last;
  }
}

static void down(Image &im, double a) {
  std::vector<double> last(im.n);
  for (int y = 0; y < im.n; y++)
    for (int x = 0; x < im.n; x++) last[x] = im.at(x, y) = a * im.at(x, y) + (1.0 - a) * last[x];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 2048, rounds = argc > 2 ? std::atoi(argv[2]) : 6;
  unsigned seed = argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 2u;
  Image im = paint(n, seed);
  for (int r = 0; r < rounds; r++) {
    across(im, 0.7 + 0.01 * r);
    down(im, 0.6);
  }
  double s = 0.0, w = 0.0;
  for (size_t k = 0; k < im.v.size(); k++) {
    s += im.v[k];
    w += im.v[k] * (double)(k % 11);
  }
  std::printf("checksum %.12e %.12e\n", s, w);
  return 0;
}
