#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace mill {

using Load = std::int64_t;

template <class Rule>
class Floor {
 public:
  Floor(std::size_t looms, Rule rule) : loads_(looms, 0), rule_(rule) {}

  Load assign(std::uint32_t order, Load length) {
    std::size_t at = rule_(order) % loads_.size();
    loads_[at] += length;
    return peak();
  }

  Load peak() const {
    return *std::max_element(loads_.begin(), loads_.end());
  }

  Load idle() const {
    Load top = peak(), sum = 0;
    for (Load l : loads_) sum += top - l;
    return sum;
  }

 private:
  std::vector<Load> loads_;
  Rule rule_;
};

struct Scatter {
  std::uint32_t operator()(std::uint32_t k) const {
    k ^= k >> 16;
    k *= 0x7feb352du;
    k ^= k >> 15;
    k *= 0x846ca68bu;
    return k ^ (k >> 16);
  }
};

}

int main(int argc, char **argv) {
  std::size_t looms = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10000;
  std::uint32_t orders = argc > 2 ? std::atoi(argv[2]) : 400000;
  mill::Floor<mill::Scatter> floor(looms, mill::Scatter{});
  mill::Load sum = 0;
  std::uint32_t jumps = 0;
  mill::Load before = 0;
  for (std::uint32_t k = 0; k < orders; ++k) {
    mill::Load now = floor.assign(k, 20 + k % 37);
    if (now != before) ++jumps;
    sum += now;
    before = now;
  }
  std::cout << "checksum " << sum << ' ' << jumps << ' ' << floor.idle() << '\n';
  return 0;
}
