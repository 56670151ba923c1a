"""Serial programs with something to mend behind macros, accessors and other names of types, as in `programs`."""

from __future__ import annotations

from tests.fix.recipes.cases import c, cpp

_IMAGE = """
class Image {
  int w_, h_;
  std::vector<float> px_;

public:
  Image(int w, int h) : w_(w), h_(h), px_(w * h) {}
  float &operator()(int x, int y) { return px_[y * w_ + x]; }
  const float &operator()(int x, int y) const { return px_[y * w_ + x]; }
  int width() const { return w_; }
  int height() const { return h_; }
};
"""

SERIAL = (
    c(
        "macro for the index", "interchange-loops",
        """
#define IDX(i, j, n) ((i) * (n) + (j))
static void smooth(double *dst, const double *src, int n)
{
    int i, j;
    for (j = 1; j < n - 1; j++) {
        for (i = 1; i < n - 1; i++) {
            dst[IDX(i, j, n)] = 0.25 * (src[IDX(i - 1, j, n)] + src[IDX(i + 1, j, n)]
                                        + src[IDX(i, j - 1, n)] + src[IDX(i, j + 1, n)]);
        }
    }
}
int main(void)
{
    double a[400], b[400], s = 0;
    for (int k = 0; k < 400; k++) a[k] = b[k] = k * 37 % 101;
    smooth(b, a, 20);
    for (int k = 0; k < 400; k++) s += b[k] * (k % 7);
    printf("%.17g\\n", s);
    return 0;
}
""", "for (i = 1; i < n - 1; i++) {\n        for (j = 1; j < n - 1; j++) {\n            dst[IDX(i, j, n)] = 0.25",
    ),
    c(
        "macros in the loop", "hoist-invariant-call",
        """
#define NY 30
#define AT(f, i, j) ((f)[(i) * NY + (j)])
static double field[40 * NY];
static void relax(double alpha, double temp)
{
    int i, j;
    for (i = 1; i < 39; i++)
        for (j = 1; j < NY - 1; j++) {
            double rate;
            rate = alpha * exp(-temp / 300.0) * pow(temp, 1.75);
            AT(field, i, j) += rate * i + j;
        }
}
int main(void)
{
    double s = 0;
    relax(1e-5, 291.0);
    for (int k = 0; k < 40 * NY; k++) s += field[k];
    printf("%.17g\\n", s);
    return 0;
}
""", "_once = alpha * exp(-temp / 300.0) * pow(temp, 1.75);", "AT(field, i, j) += rate * i + j;",
    ),
    c(
        "array of two dimensions with sizes that are arguments", "interchange-loops",
        """
void scale(size_t rows, size_t cols, double m[rows][cols], const double w[cols])
{
    for (size_t c = 0; c < cols; ++c)
        for (size_t r = 0; r < rows; ++r)
            m[r][c] = m[r][c] * w[c] + 0.5;
}
int main(void)
{
    size_t rows = 30, cols = 17;
    double (*m)[cols] = malloc(sizeof(double[rows][cols]));
    double *w = malloc(cols * sizeof *w), s = 0;
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < cols; ++c) m[r][c] = (double)(r * c % 11);
    for (size_t c = 0; c < cols; ++c) w[c] = 1.0 / (double)(c + 1);
    scale(rows, cols, m, w);
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < cols; ++c) s += m[r][c] * (double)((r + c) % 3);
    printf("%.17g\\n", s);
    return 0;
}
""", "for (size_t r = 0; r < rows; ++r)\n        for (size_t c = 0; c < cols; ++c)\n            m[r][c] =",
    ),
    cpp(
        "operator with brackets", "interchange-loops",
        _IMAGE + """
static void brighten(Image &out, const Image &in, float gain, float bias) {
  for (int x = 0; x < in.width(); x++) {
    for (int y = 0; y < in.height(); y++) {
      float v = in(x, y) * gain + bias;
      out(x, y) = v > 255.0f ? 255.0f : v;
    }
  }
}
int main() {
  Image a(30, 20), b(30, 20);
  for (int y = 0; y < 20; y++)
    for (int x = 0; x < 30; x++) a(x, y) = (float)((x * 31 + y * 17) % 256);
  brighten(b, a, 1.01f, 0.5f);
  double s = 0;
  for (int y = 0; y < 20; y++)
    for (int x = 0; x < 30; x++) s += b(x, y) * (x + 2 * y);
  std::printf("%.17g\\n", s);
}
""", "for (int y = 0; y < in.height(); y++) {\n    for (int x = 0; x < in.width(); x++) {\n      float v = in(x, y)",
    ),
    cpp(
        "operator with brackets", "accumulate-in-place",
        """
class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), data_(rows * cols, 0.0) {}
  double& operator()(std::size_t i, std::size_t j) { return data_[i * cols_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return data_[i * cols_ + j]; }
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }

 private:
  std::size_t rows_, cols_;
  std::vector<double> data_;
};
Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.cols(); ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < a.cols(); ++k) {
        sum += a(i, k) * b(k, j);
      }
      c(i, j) = sum;
    }
  }
  return c;
}
int main() {
  Matrix a(12, 15), b(15, 11);
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 15; ++j) a(i, j) = 1.0 / (1.0 + i + j);
  for (std::size_t i = 0; i < 15; ++i)
    for (std::size_t j = 0; j < 11; ++j) b(i, j) = (i * 3 + j) % 7;
  Matrix c = multiply(a, b);
  double s = 0.0;
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 11; ++j) s += c(i, j) * (1 + (i + 2 * j) % 5);
  std::printf("%.17g\\n", s);
}
""", "c(i, j) += a(i, k) * b(k, j);",
    ),
    cpp(
        "vector of vectors under another name", "interchange-loops",
        """
using Table = std::vector<std::vector<double>>;
void center(Table& t, const std::vector<double>& means) {
  for (size_t c = 0; c < means.size(); ++c)
    for (size_t r = 0; r < t.size(); ++r)
      t[r][c] -= means[c];
}
int main() {
  Table t(20, std::vector<double>(15));
  for (size_t r = 0; r < 20; ++r)
    for (size_t c = 0; c < 15; ++c) t[r][c] = (r * 31 + c * 17) % 100;
  std::vector<double> means(15, 0.3);
  center(t, means);
  double s = 0;
  for (size_t r = 0; r < 20; ++r)
    for (size_t c = 0; c < 15; ++c) s += t[r][c] * (r + c % 3);
  std::printf("%.17g\\n", s);
}
""", "for (size_t r = 0; r < t.size(); ++r)\n    for (size_t c = 0; c < means.size(); ++c)",
    ),
    c(
        "scan down the columns", "block-columns",
        """
static void column_scan(int *img, int w, int h)
{
    for (int x = 0; x < w; x++) {
        int run = 0;
        for (int y = 0; y < h; y++) {
            run += img[y * w + x];
            img[y * w + x] = run;
        }
    }
}
int main(void)
{
    static int img[300 * 20];
    long s = 0;
    for (int i = 0; i < 300 * 20; i++) img[i] = i * 7 % 5;
    column_scan(img, 300, 20);
    for (int i = 0; i < 300 * 20; i++) s += (long)img[i] * (i % 13);
    printf("%ld\\n", s);
    return 0;
}
""", "int run_of[256];", "run_of[x - x_block] += img[y * w + x];",
    ),
    c(
        "variables declared before", "block-columns",
        """
static double m[40][600], top[600], mean[600];
static void columns(int n)
{
    int i, j;
    double s, w;
    for (j = 0; j <= n - 1; j++) {
        s = 0.5;
        w = s + j;
        for (i = 0; i < 40; i++) {
            s = s * 0.5 + m[i][j];
            w -= s;
        }
        mean[j] = s / 40 + w;
        top[j] = w;
    }
}
int main(void)
{
    double t = 0;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 600; j++) m[i][j] = (i * 31 + j * 17) % 100 / 7.0;
    columns(597);
    for (int j = 0; j < 600; j++) t += mean[j] * (j % 11) + top[j];
    printf("%.17g\\n", t);
    return 0;
}
""", "int j_block, j_end;", "double s_of[256];", "mean[j] = s_of[j - j_block] / 40 + w_of[j - j_block];",
    ),
    cpp(
        "accessor", "block-columns",
        """
struct Image {
  int n;
  std::vector<double> v;
  double &at(int x, int y) { return v[(size_t)y * n + x]; }
};
static void down(Image &im, double a) {
  for (int x = 0; x < im.n; x++) {
    double last = im.at(x, 0);
    for (int y = 0; y < im.n; y++) last = im.at(x, y) = a * im.at(x, y) + (1.0 - a) * last;
  }
}
int main() {
  Image im{300, std::vector<double>(300 * 300)};
  for (int k = 0; k < 300 * 300; k++) im.v[k] = k * 7919 % 1000;
  down(im, 0.6);
  double s = 0;
  for (int k = 0; k < 300 * 300; k++) s += im.v[k] * (k % 11);
  std::printf("%.17g\\n", s);
}
""", "last_of[x - x_block] = im.at(x, 0);", "last_of[x - x_block] = im.at(x, y) = a * im.at(x, y) + (1.0 - a) * last_of[x - x_block];",
    ),
)  # fmt: skip
