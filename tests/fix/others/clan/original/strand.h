#pragma once
#include <list>
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

  static Strand joined(const Strand &left, const Strand &right, int cut, const std::vector<double> &value) {
    Strand out;
    out.length_ = left.length_;
    for (const Piece &p : left.pieces_) {
      if (p.from >= cut) break;
      out.append(p);
    }
    int cover = 0;
    bool placed = false;
    for (const Piece &p : right.pieces_) {
      if (p.from <= cut) {
        cover = p.founder;
        continue;
      }
      if (!placed) out.append({cut, cover});
      placed = true;
      out.append(p);
    }
    if (!placed) out.append({cut, cover});
    out.weigh(value);
    return out;
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
  std::list<Piece> pieces_;
};
