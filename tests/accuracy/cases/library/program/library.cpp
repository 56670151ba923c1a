#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>

struct Shelf {
  std::vector<std::string> titles;
  bool has(const std::string &title) const {
    for (const auto &each : titles)
      if (each == title) return true;
    return false;
  }
};

static size_t length_of(std::vector<std::string> titles, size_t at) { return titles[at].size(); }

int main(int argc, char **argv) {
  int books = argc > 1 ? std::atoi(argv[1]) : 20000;
  Shelf shelf;
  size_t sum = 0;
  unsigned s = 3;
  for (int i = 0; i < books; i++) {
    s = s * 1664525u + 1013904223u;
    std::string title = "volume-number-" + std::to_string((s >> 10) % 16000);
    if (!shelf.has(title)) {
      shelf.titles.push_back(title);
    }
    if (i % 16 == 0) sum += length_of(shelf.titles, shelf.titles.size() / 2);
  }
  std::printf("checksum %zu %zu\n", sum, shelf.titles.size());
}
