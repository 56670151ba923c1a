#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Particle {
  double x, v, q;
};

struct Cloud {
  std::vector<Particle> p;
  std::vector<double> field;
};

static Cloud make(int n, int cells, unsigned seed) {
  Cloud c;
  c.p.resize(n);
  c.field.assign(cells, 0.0);
  for (int i = 0; i < n; i++) c.p[i] = Particle{(i + 0.5) / n, 0.01 * ((int)((i + seed % 1000) * 7 % 11) - 5), 1.0 + 0.1 * (i % 3)};
  return c;
}

static double kernel(double d, double order) { const double a = 1.0 + d, b = d + 0.1; (void)order; return a * a * a / (d * d * std::sqrt(d) + 1.0) + std::exp(-d * d) * b * b + 0.1 * a * std::sqrt(a) * std::sqrt(std::sqrt(b)); }

static void deposit(Cloud &c) {
  const int cells = (int)c.field.size();
  for (double &f : c.field) f *= 0.5;
  for (const Particle &p : c.p) {
    double w[3];
    int cell[3];
    double pos = p.x * cells;
    int base = (int)pos;
    for (int k = 0; k < 3; k++) w[k] = p.q * (1.0 - 0.3 * std::fabs(pos - base - k + 1));
    for (int k = 0; k < 3; k++) cell[k] = (base + k + cells - 1) % cells;
    for (int k = 0; k < 3; k++) c.field[cell[k]] += w[k];
  }
}

static void push(Cloud &c, double dt) {
  const int cells = (int)c.field.size();
  for (Particle &p : c.p) {
    double d = std::fabs(p.x - 0.5);
    p.v += dt * 1e-4 * p.q * (kernel(d, 3.0) - c.field[(int)(p.x * cells) % cells] * 1e-4);
    p.x += dt * p.v;
    p.x -= std::floor(p.x);
  }
}

static double energy(const Cloud &c) {
  double e = 0.0;
  for (const Particle &p : c.p) e += p.v * p.v * p.q;
  return e;
}

int main(int argc, char **argv) {
  unsigned seed = argc > 3 ? (unsigned)std::strtoul(argv[3], nullptr, 10) : 0u;
  Cloud c = make(argc > 1 ? std::atoi(argv[1]) : 150000, 2048, seed);
  int steps = argc > 2 ? std::atoi(argv[2]) : 110;
  double e = 0.0;
  for (int t = 0; t < steps; t++) {
    deposit(c);
    push(c, 0.01);
    e += energy(c);
  }
  std::printf("checksum %.14e\n", e);
  return 0;
}
