#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iomanip>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

struct Site {
  std::string name;
  long hits;
  double bytes;
};

struct State {
  long batch, lines;
  double bytes;
};

static const int ROW = 1024;
static const int KEEP = 4;
static int batches = 0;

static std::string log_line(int batch, int i) {
  uint64_t h = (uint64_t(batch) * 100003 + i) * 0x9E3779B97F4A7C15ull;
  h ^= h >> 29;
  char line[80];
  std::snprintf(line, sizeof line, "stone-pit-%03d.example %d %d", int((h >> 12) % 997), int((h >> 24) % 90000), int((h >> 44) % 6));
  return line;
}

static Site &find_site(std::vector<Site> &sites, const std::string &name) {
  for (size_t k = 0; k < sites.size(); k++)
    if (sites[k].name == name) return sites[k];
  sites.push_back({name, 0, 0.0});
  return sites.back();
}

static void digest(std::vector<Site> &sites, State &state, int batch, int lines) {
  for (int i = 0; i < lines; i++) {
    std::string line = log_line(batch, i);
    size_t blank = line.find(' ');
    char *rest;
    long size = std::strtol(line.c_str() + blank, &rest, 10);
    if (std::strtol(rest, nullptr, 10) == 5) continue;
    Site &s = find_site(sites, line.substr(0, blank));
    s.hits++;
    s.bytes += size;
    state.bytes += size;
  }
  state.batch = batch;
  state.lines += lines;
}

static void keep_state(const State &state) {
  int fd = open("quarry.state", O_RDWR | O_CREAT, 0600);
  flock(fd, LOCK_EX);
  if (pwrite(fd, &state, sizeof state, 0) < 0) std::perror("state");
  if (pwrite(fd, &state, sizeof state, (state.batch + 1) * sizeof state) < 0) std::perror("state");
  fsync(fd);
  flock(fd, LOCK_UN);
  close(fd);
}

static double *map_results(int rows) {
  int fd = open("results.dat", O_RDWR | O_CREAT | O_TRUNC, 0640);
  size_t size = size_t(rows) * ROW * sizeof(double);
  if (ftruncate(fd, size)) std::perror("results");
  void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return static_cast<double *>(p);
}

static void keep_results(double *results, int batch, const std::vector<Site> &sites) {
  double *row = results + size_t(batch) * ROW;
  for (size_t k = 0; k < sites.size(); k++) row[k] = sites[k].bytes / sites[k].hits;
  msync(row, ROW * sizeof(double), MS_SYNC);
}

static std::string report_name(int batch) {
  return "report_" + std::to_string(1000 + batch) + ".txt";
}

static void publish(int batch, const std::vector<Site> &sites) {
  std::string name = report_name(batch);
  std::ofstream f(name);
  for (const Site &s : sites) f << s.name << ' ' << s.hits << ' ' << std::setprecision(14) << s.bytes / s.hits << '\n';
  f.close();
  int fd = open(name.c_str(), O_RDWR);
  fsync(fd);
  close(fd);
  unlink("latest.new");
  if (symlink(name.c_str(), "latest.new")) std::perror("symlink");
  std::rename("latest.new", "latest");
  if (batch >= KEEP) unlink(report_name(batch - KEEP).c_str());
}

static int sorted_list(int batch, const std::vector<Site> &sites) {
  std::string command = "LC_ALL=C sort -k2,2nr -k1,1 -o top_" + std::to_string(batch) + ".txt";
  FILE *p = popen(command.c_str(), "w");
  for (const Site &s : sites)
    for (int part = 0; part < 15; part++) std::fprintf(p, "%s/%d %.6f\n", s.name.c_str(), part, s.bytes / (s.hits + part));
  return pclose(p);
}

int main(int argc, char **argv) {
  int lines = argc > 1 ? std::atoi(argv[1]) : 7000;
  batches = argc > 2 ? std::atoi(argv[2]) : 64;
  unlink("quarry.state");
  State state = {0, 0, 0.0};
  std::vector<Site> sites;
  double *results = map_results(batches), sum = 0.0;
  for (int batch = 0; batch < batches; batch++) {
    digest(sites, state, batch, lines);
    keep_state(state);
    keep_results(results, batch, sites);
    publish(batch, sites);
    if (batch % 4 == 2 && sorted_list(batch, sites)) return 1;
  }
  for (size_t k = 0; k < sites.size(); k++) sum += sites[k].bytes / sites[k].hits * (1 + k % 5);
  std::printf("lines %ld sites %zu checksum %.10e\n", state.lines, sites.size(), sum);
  return 0;
}
