#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <string>
#include <vector>

struct Body {
  double x, y, vx, vy;

  void kick(double h) {
    double r2 = x * x + y * y;
    double k = -h / (r2 * std::sqrt(r2));
    vx += k * x;
    vy += k * y;
  }
  void drift(double h) {
    x += h * vx;
    y += h * vy;
  }
};

class Journal {
 public:
  explicit Journal(const std::string &path) : out_(path) {
    out_ << std::fixed << std::setprecision(4);
  }
  void note(int step, int who, const Body &b) {
    out_ << step << ' ' << who << ' ' << b.x << ' ' << b.y << std::endl;
  }

 private:
  std::ofstream out_;
};

static std::vector<Body> launch(int n) {
  std::vector<Body> v;
  for (int i = 0; i < n; ++i) {
    double r = 1.0 + 0.15 * i;
    v.push_back(Body{r, 0.0, 0.0, std::sqrt(1.0 / r)});
  }
  return v;
}

static void simulate(std::vector<Body> &bodies, int steps, Journal &log) {
  for (int s = 0; s < steps; ++s) {
    int who = 0;
    for (Body &b : bodies) {
      b.kick(0.002);
      b.drift(0.002);
      log.note(s, who++, b);
    }
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 40;
  int steps = argc > 2 ? std::atoi(argv[2]) : 30000;
  auto bodies = launch(n);
  {
    Journal log("orbit.tmp");
    simulate(bodies, steps, log);
  }
  double e = 0.0;
  for (const Body &b : bodies)
    e += 0.5 * (b.vx * b.vx + b.vy * b.vy) - 1.0 / std::hypot(b.x, b.y);
  std::remove("orbit.tmp");
  std::printf("checksum %.9e\n", e);
  return 0;
}
