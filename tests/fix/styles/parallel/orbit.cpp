#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Body {
  double x, y, vx, vy;
};

class Swarm {
 public:
  explicit Swarm(int n) : bodies_(n) {
    for (int i = 0; i < n; i++) {
      double r = 1.0 + 0.002 * (i % 700);
      bodies_[i] = {r, 0.0, 0.0, std::sqrt(1.0 / r)};
    }
  }

  void run(int steps, double dt) {
#pragma omp parallel
    {
      const int team = omp_get_num_threads();
      const int me = omp_get_thread_num();
      const std::size_t lo = bodies_.size() * me / team;
      const std::size_t hi = bodies_.size() * (me + 1) / team;
      for (int s = 0; s < steps; s++) {
        for (std::size_t i = lo; i < hi; i++) {
          int sub = (i + 40u * s) % 640 < 80 ? 12 : 1;
          move(bodies_[i], dt, sub);
        }
#pragma omp barrier
      }
    }
  }

  double energy() const {
    double e = 0.0;
    for (const Body &b : bodies_)
      e += 0.5 * (b.vx * b.vx + b.vy * b.vy) - 1.0 / std::hypot(b.x, b.y);
    return e;
  }

 private:
  static void move(Body &b, double dt, int sub) {
    const double h = dt / sub;
    for (int k = 0; k < sub; k++) {
      double r2 = b.x * b.x + b.y * b.y;
      double g = h / (r2 * std::sqrt(r2));
      b.vx -= g * b.x;
      b.vy -= g * b.y;
      b.x += h * b.vx;
      b.y += h * b.vy;
    }
  }

  std::vector<Body> bodies_;
};

int main(int argc, char **argv) {
  Swarm swarm(argc > 1 ? std::atoi(argv[1]) : 640);
  swarm.run(argc > 2 ? std::atoi(argv[2]) : 60000, 0.001);
  std::printf("checksum %.9e\n", swarm.energy());
}
