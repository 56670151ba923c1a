#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

struct Tree {
  double age, height, fruit;
};

class Orchard {
 public:
  explicit Orchard(int rows) : trees(rows) {
    for (int i = 0; i < rows; i++) trees[i] = {1.0 + i % 7, 2.0, 0.0};
  }

  double shade(int at) const {
    double s = 0.0;
    for (size_t i = 0; i < trees.size(); i++) {
      double far = std::abs(double(i) - at) + 1.0;
      s += trees[i].height * std::pow(far, -2.0);
    }
    return s;
  }

  void season() {
    std::vector<double> light(trees.size());
    for (size_t i = 0; i < trees.size(); i++) light[i] = 1.0 / (1.0 + shade(i));
    for (size_t i = 0; i < trees.size(); i++) {
      trees[i].age += 1.0;
      trees[i].height += 0.3 * light[i];
      trees[i].fruit = 10.0 * light[i] * std::sqrt(trees[i].age);
    }
  }

  double harvest() const {
    double s = 0.0;
    for (const Tree &t : trees) s += t.fruit;
    return s;
  }

  std::vector<Tree> trees;
};

static void settle(const std::string &name) {
  int fd = open(name.c_str(), O_WRONLY);
  fsync(fd);
  close(fd);
}

static void ledger(int year, double fruit) {
  std::ofstream out("ledger.csv", std::ios::app);
  char line[64];
  snprintf(line, sizeof line, "%d,%.4f\n", year, fruit);
  out << line << std::flush;
  out.close();
  settle("ledger.csv");
}

static void state(const Orchard &o, int year) {
  std::string name = "orchard_" + std::to_string(year) + ".state";
  std::ofstream out(name, std::ios::binary);
  out.write(reinterpret_cast<const char *>(o.trees.data()), o.trees.size() * sizeof(Tree));
  out.close();
  settle(name);
  chmod(name.c_str(), 0440);
  unlink("current.state");
  link(name.c_str(), "current.state");
  if (year > 3) unlink(("orchard_" + std::to_string(year - 3) + ".state").c_str());
}

static void board(const Orchard &o, int year) {
  size_t size = o.trees.size() * sizeof(double);
  int fd = open("board.map", O_RDWR | O_CREAT, 0644);
  if (ftruncate(fd, size) != 0) exit(1);
  double *map = static_cast<double *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  for (size_t i = 0; i < o.trees.size(); i++) map[i] = o.trees[i].fruit + year;
  msync(map, size, MS_SYNC);
  munmap(map, size);
  close(fd);
}

static void digest() {
  FILE *out = popen("sort -t, -k2 -n > order.txt", "w");
  std::ifstream in("ledger.csv");
  for (std::string line; std::getline(in, line);) fprintf(out, "%s\n", line.c_str());
  pclose(out);
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 700, years = argc > 2 ? atoi(argv[2]) : 60;
  Orchard orchard(rows);
  double total = 0.0;
  for (int year = 1; year <= years; year++) {
    orchard.season();
    total += orchard.harvest();
    ledger(year, orchard.harvest());
    state(orchard, year);
    board(orchard, year);
    if (year % 10 == 0) digest();
  }
  printf("total %.10e\n", total);
  return 0;
}
