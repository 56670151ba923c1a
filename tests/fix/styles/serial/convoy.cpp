#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Truck {
  int id;
  bool running;
  double fuel;
  double km;
};

class Fleet {
 public:
  explicit Fleet(int n) {
    for (int i = 0; i < n; i++)
      trucks_.push_back({i, i % 4 != 0, 300.0 + i % 50, 0.0});
  }

  long running() const {
    return std::count_if(trucks_.begin(), trucks_.end(),
                         [](const Truck &t) { return t.running; });
  }

  void drive(int day) {
    std::vector<double> leg(trucks_.size());
    for (int k = 0; k < running(); k++)
      leg[k] = 40.0 + 5.0 * std::sin(0.1 * (k + day));
    size_t next = 0;
    for (Truck &t : trucks_) {
      if (!t.running) continue;
      t.km += leg[next];
      t.fuel -= 0.3 * leg[next++];
    }
  }

  void service() {
    for (Truck &t : trucks_) {
      if (t.fuel < 40.0) {
        t.running = false;
        t.fuel = 280.0;
      } else if (!t.running) {
        t.running = true;
      }
    }
  }

  double distance() const {
    double s = 0.0;
    for (auto it = trucks_.cbegin(); it != trucks_.cend(); ++it) s += it->km;
    return s;
  }

 private:
  std::vector<Truck> trucks_;
};

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 8000;
  int days = argc > 2 ? std::atoi(argv[2]) : 60;
  Fleet fleet(n);
  for (int d = 0; d < days; d++) {
    fleet.drive(d);
    fleet.service();
  }
  std::printf("checksum %.8e %ld\n", fleet.distance(), fleet.running());
  return 0;
}
