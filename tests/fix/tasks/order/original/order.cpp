#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Record {
  uint32_t key, value;
};

static void sort_records(std::vector<Record> &a, std::vector<Record> &b) {
  std::array<std::array<uint32_t, 256>, 4> at{};
  for (const Record &r : a)
    for (int d = 0; d < 4; d++) at[d][(r.key >> (8 * d)) & 255]++;
  for (auto &counts : at) {
    uint32_t sum = 0;
    for (uint32_t &c : counts) {
      uint32_t n = c;
      c = sum;
      sum += n;
    }
  }
  for (int d = 0; d < 4; d++) {
    for (const Record &r : a) b[at[d][(r.key >> (8 * d)) & 255]++] = r;
    a.swap(b);
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 8000000, rounds = argc > 2 ? std::atoi(argv[2]) : 2;
  uint32_t s = argc > 3 ? (uint32_t)std::strtoul(argv[3], nullptr, 10) : 3u;
  std::vector<Record> a(n), b(n);
  uint64_t h = 17;
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < n; i++) {
      s ^= s << 13 | 1u;
      s ^= s >> 17;
      s ^= s << 5;
      a[i] = Record{s, (uint32_t)i};
    }
    sort_records(a, b);
    for (int i = 0; i < n; i++) h = h * 31 + (a[i].key ^ a[i].value);
  }
  std::printf("checksum %016llx\n", (unsigned long long)h);
  return 0;
}
