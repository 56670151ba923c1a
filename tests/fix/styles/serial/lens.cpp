#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Vec = std::array<double, 3>;
using Mat = std::array<Vec, 3>;

static Mat times(const Mat &a, const Mat &b) {
  Mat r{};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) r[i][j] += a[i][k] * b[k][j];
  return r;
}

class Camera {
 public:
  Camera(int w, int h) : w_(w), h_(h) {}

  void aim(double yaw, double pitch, double roll) {
    yaw_ = yaw;
    pitch_ = pitch;
    roll_ = roll;
  }

  Mat orientation() const {
    double a = std::cos(yaw_), b = std::sin(yaw_);
    double c = std::cos(pitch_), d = std::sin(pitch_);
    double e = std::cos(roll_), f = std::sin(roll_);
    Mat y{{{a, 0, b}, {0, 1, 0}, {-b, 0, a}}};
    Mat p{{{1, 0, 0}, {0, c, -d}, {0, d, c}}};
    Mat r{{{e, -f, 0}, {f, e, 0}, {0, 0, 1}}};
    return times(times(y, p), r);
  }

  void render(std::vector<float> &out) const {
    for (int y = 0; y < h_; y++)
      for (int x = 0; x < w_; x++) {
        Mat m = orientation();
        Vec d{x - 0.5 * w_, y - 0.5 * h_, 0.9 * w_};
        Vec g{};
        for (int i = 0; i < 3; i++)
          g[i] = m[i][0] * d[0] + m[i][1] * d[1] + m[i][2] * d[2];
        out[(size_t)y * w_ + x] = shade(g);
      }
  }

 private:
  static float shade(const Vec &g) {
    double len = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    double up = g[1] / len;
    return up > 0 ? 0.4 + 0.6 * up : 0.4 / (1.0 - up);
  }

  int w_, h_;
  double yaw_ = 0, pitch_ = 0, roll_ = 0;
};

int main(int argc, char **argv) {
  int w = argc > 1 ? std::atoi(argv[1]) : 960;
  int frames = argc > 2 ? std::atoi(argv[2]) : 24;
  int h = w * 9 / 16;
  Camera cam(w, h);
  std::vector<float> img((size_t)w * h);
  double sum = 0.0;
  for (int f = 0; f < frames; f++) {
    cam.aim(0.05 * f, 0.2 * std::sin(0.1 * f), 0.01 * f);
    cam.render(img);
    for (float v : img) sum += v;
  }
  std::printf("checksum %.6e\n", sum);
  return 0;
}
