#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

struct Patient {
  int64_t arrival;
  int32_t severity;
  int32_t id;
};

class Ward {
 public:
  void admit(const Patient &p) { waiting_.push_back(p); }

  bool idle() const { return waiting_.empty(); }

  Patient call_next() {
    Patient p = waiting_.front();
    waiting_.erase(waiting_.begin());
    return p;
  }

  std::size_t backlog() const { return waiting_.size(); }

 private:
  std::vector<Patient> waiting_;
};

class Dice {
 public:
  explicit Dice(uint64_t s) : s_(s) {}
  uint32_t roll(uint32_t sides) {
    s_ = s_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<uint32_t>(s_ >> 33) % sides;
  }

 private:
  uint64_t s_;
};

int main(int argc, char **argv) {
  int ticks = argc > 1 ? std::atoi(argv[1]) : 60000;
  Ward ward;
  Dice dice(42);
  int64_t waited = 0;
  int64_t clock = 0;
  int32_t serial = 0;
  std::size_t peak = 0;
  for (int t = 0; t < ticks; ++t, ++clock) {
    uint32_t coming = dice.roll(5);
    for (uint32_t k = 0; k < coming; ++k)
      ward.admit({clock, static_cast<int32_t>(dice.roll(9) + 1), serial++});
    if (!ward.idle()) {
      Patient p = ward.call_next();
      waited += (clock - p.arrival) * p.severity;
    }
    if (ward.backlog() > peak) peak = ward.backlog();
  }
  while (!ward.idle()) {
    Patient p = ward.call_next();
    waited += (clock++ - p.arrival) * p.severity;
  }
  std::cout << "checksum " << waited << " " << peak << std::endl;
  return 0;
}
