#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

class Court {
 public:
  explicit Court(int players) : players_(players) {}

  double play(int strokes) {
    std::thread crew[8];
    for (int p = 0; p < players_; ++p) crew[p] = std::thread([this, p, strokes] { seat(p, strokes); });
    for (int p = 0; p < players_; ++p) crew[p].join();
    return ball_.first + ball_.second;
  }

 private:
  void await(int player) {
    while (turn_.load() % players_ != player)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }

  void seat(int player, int strokes) {
    for (int s = 0; s < strokes; ++s) {
      await(player);
      hit(player);
      turn_.fetch_add(1);
    }
  }

  void hit(int player) {
    auto &[x, v] = ball_;
    for (int k = 0; k < 300; ++k) {
      v += 0.001 * (std::cos(x) - 0.1 * v) + 1e-5 * player;
      x += 0.001 * v;
    }
  }

  int players_;
  std::atomic<int> turn_{0};
  std::pair<double, double> ball_{0.5, 1.0};
};

int main(int argc, char **argv) {
  int strokes = argc > 1 ? std::atoi(argv[1]) : 8000;
  int players = argc > 2 ? std::atoi(argv[2]) : 4;
  if (players < 1 || players > 8) return 1;
  Court court(players);
  std::printf("checksum %.10e\n", court.play(strokes));
  return 0;
}
