#pragma once
#include <vector>

struct Piece {
  int from;
  int founder;
};

class Strand {
 public:
  Strand() = default;
  Strand(int founder, int length, const std::vector<double> &value) : length_(length) {
    append({0, founder});
    weigh(value);
  }

  void join(const Strand &left, const Strand &right, int cut, const std::vector<double> &value) {
    length_ = left.length_;
    if (&left == &right) {
      pieces_ = left.pieces_;
      return;
    }
    pieces_.clear();
    for (const Piece &p : left.pieces_) {
      if (p.from >= cut) break;
      append(p);
    }
    int cover = 0;
    bool placed = false;
    for (const Piece &p : right.pieces_) {
      if (p.from <= cut) {
        cover = p.founder;
        continue;
      }
      if (!placed) append({cut, cover});
      placed = true;
      append(p);
    }
    if (!placed) append({cut, cover});
    weigh(value);
  }

  double worth() const { return worth_; }
  int count() const { return static_cast<int>(pieces_.size()); }

  template <class F>
  void each(F f) const {
    for (auto p = pieces_.begin(); p != pieces_.end();) {
      const Piece here = *p;
      ++p;
      f(here.founder, here.from, p == pieces_.end() ? length_ : p->from);
    }
  }

 private:
  void append(Piece p) {
    if (!pieces_.empty() && pieces_.back().founder == p.founder) return;
    pieces_.push_back(p);
  }

  void weigh(const std::vector<double> &value) {
    worth_ = 0.0;
    each([&](int founder, int from, int to) { worth_ += value[founder] * (to - from) / (1.0 + 0.001 * from); });
  }

  int length_ = 0;
  double worth_ = 0.0;
  std::vector<Piece> pieces_;
};
