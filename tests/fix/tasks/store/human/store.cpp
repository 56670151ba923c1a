#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

struct Item {
  std::string sku;
  long count;
};

struct Order {
  std::string sku;
  int qty;
  std::vector<int> options;
};

static std::string code(uint32_t k) {
  char b[40];
  std::snprintf(b, sizeof b, "warehouse-item-%08x", k * 2654435761u);
  return b;
}

static std::vector<Order> orders(int n, int kinds, uint32_t s) {
  std::vector<Order> out(n);
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    out[i].sku = code((s >> 9) % kinds);
    out[i].qty = 1 + (s >> 28);
    for (int k = 0; k < 24; k++) out[i].options.push_back((s >> k) & 7);
  }
  return out;
}

class Stock {
 public:
  Item &item(const std::string &sku) {
    auto ins = index_.emplace(sku, items_.size());
    if (ins.second) items_.push_back(Item{sku, 0});
    return items_[ins.first->second];
  }
  long digest() const {
    long h = 17;
    for (const Item &it : items_) h = (h * 131 + it.count) % 1000000007L;
    return h;
  }

 private:
  std::vector<Item> items_;
  std::unordered_map<std::string, size_t> index_;
};

static long surcharge(const std::vector<Order> &group, size_t first, size_t last) {
  long s = 0;
  for (size_t i = first; i < last; i++)
    for (int o : group[i].options) s += o * group[i].qty;
  return s;
}

static long process(Stock &st, const std::vector<Order> &all) {
  long fee = 0;
  const size_t chunk = 500;
  for (size_t b = 0; b < all.size(); b += chunk) {
    size_t e = b + chunk < all.size() ? b + chunk : all.size();
    fee += surcharge(all, b, e);
    for (size_t i = b; i < e; i++) st.item(all[i].sku).count += all[i].qty;
  }
  return fee;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 16000;
  int days = argc > 2 ? std::atoi(argv[2]) : 12;
  Stock st;
  std::vector<Order> all = orders(n, 6000, argc > 3 ? (uint32_t)std::strtoul(argv[3], nullptr, 10) : 5u);
  long fee = 0;
  for (int d = 0; d < days; d++) fee += process(st, all) % (d + 7);
  std::printf("checksum %ld %ld\n", st.digest(), fee);
  return 0;
}
