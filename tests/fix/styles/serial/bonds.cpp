#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct Terms {
  double face;
  double coupon;
  int years;
};

struct Flow {
  double when;
  double amount;
};

using Flows = std::vector<std::unique_ptr<Flow>>;

class Pricer {
 public:
  explicit Pricer(double shift) {
    for (int k = 0; k < 128; k++)
      curve_[k] = 1.0 / (1.0 + (0.02 + shift + 0.0002 * k) * 0.5 * k);
  }

  double value(const Terms &t) const {
    double v = 0.0;
    for (const auto &f : schedule(t)) v += f->amount * discount(f->when);
    return v;
  }

 private:
  Flows schedule(const Terms &t) const {
    Flows out;
    int n = 2 * t.years;
    for (int k = 1; k <= n; k++) {
      double pay = 0.5 * t.coupon * t.face + (k == n ? t.face : 0.0);
      out.push_back(std::make_unique<Flow>(Flow{0.5 * k, pay}));
    }
    return out;
  }

  double discount(double when) const {
    return curve_[static_cast<int>(2.0 * when)];
  }

  double curve_[128];
};

static std::vector<Terms> book(int n) {
  std::vector<Terms> v(n);
  for (int i = 0; i < n; i++) {
    v[i].face = 100.0 + i % 10 * 50.0;
    v[i].coupon = 0.01 + 0.001 * (i % 40);
    v[i].years = 2 + i % 28;
  }
  return v;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 20000;
  int shocks = argc > 2 ? std::atoi(argv[2]) : 120;
  std::vector<Terms> held = book(n);
  double sum = 0.0, worst = 1e300;
  for (int s = 0; s < shocks; s++) {
    Pricer p(0.0004 * (s - shocks / 2));
    double total = 0.0;
    for (const Terms &t : held) total += p.value(t);
    sum += total;
    if (total < worst) worst = total;
  }
  std::printf("checksum %.8e %.8e\n", sum, worst);
  return 0;
}
