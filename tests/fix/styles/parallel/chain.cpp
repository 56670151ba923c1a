#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
struct Chain {
  std::vector<T> x, v, f;
  T stiffness, mass;

  Chain(int n, T k, T m) : x(n), v(n, T(0)), f(n, T(0)), stiffness(k), mass(m) {
    for (int i = 0; i < n; i++) x[i] = T(0.1) * std::sin(T(0.05) * i);
  }

  int size() const { return static_cast<int>(x.size()); }

  void step(T dt) {
    const int n = size();
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) {
      T l = x[i] - x[i - 1], r = x[i + 1] - x[i];
      f[i] = stiffness * (r - l) + T(0.25) * (r * r * r - l * l * l);
    }
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++) {
      v[i] += dt * f[i] / mass;
      x[i] += dt * v[i];
    }
  }

  T energy() const {
    T e = 0;
    for (int i = 1; i < size(); i++) {
      T d = x[i] - x[i - 1];
      e += T(0.5) * (mass * v[i] * v[i] + stiffness * d * d);
    }
    return e;
  }
};

int main(int argc, char **argv) {
  int nodes = argc > 1 ? std::atoi(argv[1]) : 96;
  long steps = argc > 2 ? std::atol(argv[2]) : 1000000;
  Chain<double> c(nodes, 1.0, 1.0);
  for (long s = 0; s < steps; s++) c.step(0.01);
  std::printf("checksum %.8e %.8e\n", c.energy(), c.x[nodes / 3]);
  return 0;
}
