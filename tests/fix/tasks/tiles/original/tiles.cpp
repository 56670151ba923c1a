#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
class Array2 {
 public:
  Array2(int nx, int ny) : nx_(nx), ny_(ny), data_(static_cast<size_t>(nx) * ny) {}
  T &operator()(int i, int j) { return data_[index(i, j)]; }
  const T &operator()(int i, int j) const { return data_[index(i, j)]; }
  int nx() const { return nx_; }
  int ny() const { return ny_; }
  bool inside(int i, int j) const { return i >= 0 && j >= 0 && i < nx_ && j < ny_; }

 private:
  size_t index(int i, int j) const { return static_cast<size_t>(j) * nx_ + i; }
  int nx_, ny_;
  std::vector<T> data_;
};

struct Life {
  Array2<unsigned char> now, next;
  Life(int nx, int ny) : now(nx, ny), next(nx, ny) {}
};

static void populate(Life &l, unsigned s) {
  for (int j = 0; j < l.now.ny(); j++)
    for (int i = 0; i < l.now.nx(); i++) {
      s = s * 1664525u + 1013904223u;
      l.now(i, j) = (s >> 28) < 5;
    }
}

static int neighbours(const Array2<unsigned char> &a, int i, int j) {
  int n = 0;
  for (int b = -1; b <= 1; b++)
    for (int c = -1; c <= 1; c++)
      if ((b || c) && a.inside(i + c, j + b)) n += a(i + c, j + b);
  return n;
}

static void advance(Life &l) {
  for (int j = 0; j < l.now.ny(); j++)
    for (int i = 0; i < l.now.nx(); i++) {
      int n = neighbours(l.now, i, j);
      l.next(i, j) = n == 3 || (n == 2 && l.now(i, j));
    }
  std::swap(l.now, l.next);
}

static long alive(const Life &l) {
  long n = 0;
  for (int j = 0; j < l.now.ny(); j++)
    for (int i = 0; i < l.now.nx(); i++) n += l.now(i, j) * (1 + (i ^ j) % 5);
  return n;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 500;
  int steps = argc > 2 ? std::atoi(argv[2]) : 60;
  Life l(n, n);
  populate(l, argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 3u);
  long s = 0;
  for (int t = 0; t < steps; t++) {
    advance(l);
    s = (s * 31 + alive(l)) % 1000000007L;
  }
  std::printf("checksum %ld\n", s);
  return 0;
}
