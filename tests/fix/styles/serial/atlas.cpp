#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

class Terrain {
 public:
  Terrain(std::string path, int side) : path_(std::move(path)), side_(side) {
    std::ofstream out(path_, std::ios::binary);
    for (int y = 0; y < side_; ++y)
      for (int x = 0; x < side_; ++x) {
        float h = 500.0f + 300.0f * std::sin(0.02f * x) * std::cos(0.03f * y);
        out.write(reinterpret_cast<const char *>(&h), sizeof h);
      }
  }
  ~Terrain() { std::remove(path_.c_str()); }

  float height(int x, int y) const {
    std::ifstream in(path_, std::ios::binary);
    in.seekg((static_cast<std::streamoff>(y) * side_ + x) * sizeof(float));
    float h = 0.0f;
    in.read(reinterpret_cast<char *>(&h), sizeof h);
    return h;
  }

  int side() const { return side_; }

 private:
  std::string path_;
  int side_;
};

class Walker {
 public:
  Walker(const Terrain &t, uint32_t seed)
      : land_(t), s_(seed), x_(t.side() / 2), y_(t.side() / 2) {}

  double climb(int steps) {
    double up = 0.0;
    float here = land_.height(x_, y_);
    for (int k = 0; k < steps; ++k) {
      s_ = s_ * 1664525u + 1013904223u;
      int dx = static_cast<int>(s_ >> 28) - 7;
      int dy = static_cast<int>(s_ >> 24 & 15) - 7;
      x_ = wrap(x_ + dx);
      y_ = wrap(y_ + dy);
      float there = land_.height(x_, y_);
      if (there > here) up += there - here;
      here = there;
    }
    return up;
  }

 private:
  int wrap(int v) const { return (v + land_.side()) % land_.side(); }

  const Terrain &land_;
  uint32_t s_;
  int x_, y_;
};

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 20000;
  int walkers = argc > 2 ? std::atoi(argv[2]) : 12;
  Terrain land("terrain.tmp", 700);
  double total = 0.0;
  for (int w = 0; w < walkers; ++w) total += Walker(land, 17u + w).climb(steps);
  std::cout << "checksum " << static_cast<long long>(total) << '\n';
}
