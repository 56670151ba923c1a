#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

class Noise {
 public:
  explicit Noise(uint32_t seed) : x_(seed * 747796405u + 2891336453u) {}
  double next() {
    x_ = x_ * 747796405u + 2891336453u;
    uint32_t w = ((x_ >> ((x_ >> 28) + 4)) ^ x_) * 277803737u;
    return (((w >> 22) ^ w) + 0.5) / 4294967296.0;
  }
  int below(int n) { return static_cast<int>(next() * n); }

 private:
  uint32_t x_;
};

class Node {
 public:
  virtual ~Node() = default;
  virtual double settle(bool up) const = 0;
  void vary(Noise &noise) {
    delay_[0] = 1.0 - 0.2 * std::log(noise.next());
    delay_[1] = 1.1 - 0.3 * std::log(noise.next());
  }

 protected:
  double delay_[2] = {1.0, 1.1};
};

using Feeds = std::vector<const Node *>;

class Pin : public Node {
 public:
  double settle(bool up) const override { return 0.1 * delay_[up]; }
};

class Gate : public Node {
 public:
  Gate(Feeds feeds, bool turns) : feeds_(std::move(feeds)), turns_(turns) {}
  double settle(bool up) const override {
    double last = 0.0;
    for (const Node *f : feeds_) last = std::max(last, f->settle(up != turns_));
    return last + delay_[up];
  }

 private:
  Feeds feeds_;
  bool turns_;
};

class Parity : public Node {
 public:
  explicit Parity(Feeds feeds) : feeds_(std::move(feeds)) {}
  double settle(bool up) const override {
    double last = 0.0;
    for (const Node *f : feeds_) last = std::max({last, f->settle(up), f->settle(!up)});
    return last + 1.4 * delay_[up];
  }

 private:
  Feeds feeds_;
};

class Board {
 public:
  Board(int width, int layers, Noise &noise) : width_(width) {
    for (int i = 0; i < width; i++) nodes_.push_back(std::make_unique<Pin>());
    for (int l = 0; l < layers; l++) {
      const size_t base = nodes_.size() - width;
      for (int i = 0; i < width; i++) {
        Feeds feeds{nodes_[base + i].get(), nodes_[base + noise.below(width)].get()};
        const int kind = noise.below(8);
        if (kind < 2) nodes_.push_back(std::make_unique<Parity>(std::move(feeds)));
        else nodes_.push_back(std::make_unique<Gate>(std::move(feeds), kind < 6));
      }
    }
  }

  void drift(Noise &noise) {
    for (auto &n : nodes_)
      if (noise.below(3) == 0) n->vary(noise);
  }

  double slowest(int &which) const {
    double worst = 0.0;
    for (int i = 0; i < width_; i++) {
      const Node &out = *nodes_[nodes_.size() - width_ + i];
      const double t = std::max(out.settle(false), out.settle(true));
      if (t > worst) worst = t, which = i;
    }
    return worst;
  }

 private:
  int width_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

int main(int argc, char **argv) {
  auto given = [&](int k, int otherwise) { return argc > k ? std::stoi(argv[k]) : otherwise; };
  const int width = given(1, 64), layers = given(2, 6), trials = given(3, 7000);
  Noise noise(given(4, 9));
  Board board(width, layers, noise);
  std::vector<int> blamed(width);
  double sum = 0.0, peak = 0.0;
  for (int t = 0; t < trials; t++) {
    int which = 0;
    board.drift(noise);
    const double worst = board.slowest(which);
    sum += worst;
    peak = std::max(peak, worst);
    blamed[which]++;
  }
  const int most = std::max_element(blamed.begin(), blamed.end()) - blamed.begin();
  std::printf("mean %.10f peak %.10f output %d in %d of %d\n", sum / trials, peak, most, blamed[most], trials);
  double mixed = 0.0;
  for (int i = 0; i < width; i++) mixed += blamed[i] * std::sqrt(i + 2.0);
  std::printf("checksum %.12e\n", sum + mixed);
  return 0;
}
