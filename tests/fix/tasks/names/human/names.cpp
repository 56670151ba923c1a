#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static std::vector<std::string> parts(int n, uint32_t s) {
  std::vector<std::string> all;
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    all.push_back(std::string(3 + (s >> 30), (char)('a' + (s >> 16) % 26)) + std::to_string(s >> 22));
  }
  return all;
}

static std::string compose(const std::vector<std::string> &all, char between) {
  std::string text;
  for (const std::string &part : all) {
    text += part;
    text += between;
  }
  return text;
}

static uint64_t digest(const std::string &text) {
  uint64_t h = 1469598103934665603ULL;
  for (char c : text) h = (h ^ (unsigned char)c) * 1099511628211ULL;
  return h;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 15000, rounds = argc > 2 ? std::atoi(argv[2]) : 1;
  uint32_t seed = argc > 3 ? (uint32_t)std::strtoul(argv[3], nullptr, 10) : 12u;
  std::vector<std::string> all = parts(n, seed);
  uint64_t h = 0;
  size_t size = 0;
  for (int r = 0; r < rounds; r++) {
    std::string text = compose(all, r % 2 ? ';' : ',');
    h = h * 31 + digest(text);
    size += text.size();
  }
  std::printf("checksum %016llx %zu\n", (unsigned long long)h, size);
  return 0;
}
