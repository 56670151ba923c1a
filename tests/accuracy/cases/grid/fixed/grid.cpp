#include <cstdio>
#include <cstdlib>
#include <vector>

class Field {
  std::vector<double> data;
  int width;

public:
  Field(int w, int h) : data(w * h), width(w) {}
  double &at(int x, int y) { return data[index(x, y)]; }
  double at(int x, int y) const { return data[index(x, y)]; }
  int index(int x, int y) const { return y * width + x; }
};

static void relax(const Field &from, Field &to, int w, int h) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      to.at(x, y) = 0.25 * (from.at(x - 1, y) + from.at(x + 1, y) + from.at(x, y - 1) + from.at(x, y + 1));
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  Field a(700, 700), b(700, 700);
  for (int y = 0; y < 700; y++)
    for (int x = 0; x < 700; x++) a.at(x, y) = (x * 3 + y) % 50;
  for (int s = 0; s < steps; s++) {
    relax(a, b, 700, 700);
    relax(b, a, 700, 700);
  }
  double sum = 0;
  for (int y = 0; y < 700; y++)
    for (int x = 0; x < 700; x++) sum += a.at(x, y);
  std::printf("checksum %.10e\n", sum);
}
