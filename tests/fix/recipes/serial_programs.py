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
        "while loop and a function of the program", "hoist-invariant-call",
        """
typedef struct { size_t count; double *weight, *value; } bank_t;
double bank_norm(const bank_t *b)
{
    double s = 0.0;
    for (size_t i = 0; i < b->count; i++) s += b->weight[i] * b->weight[i];
    return sqrt(s);
}
void bank_scale(const bank_t *b, double *restrict out)
{
    size_t i = 0;
    while (i < b->count) {
        out[i] = b->value[i] / bank_norm(b);
        i++;
    }
}
int main(void)
{
    bank_t b = {30, malloc(30 * sizeof(double)), malloc(30 * sizeof(double))};
    double *out = malloc(30 * sizeof(double)), s = 0;
    for (int i = 0; i < 30; i++) { b.weight[i] = 1 + i % 7; b.value[i] = i % 11 - 3.0; }
    bank_scale(&b, out);
    for (int i = 0; i < 30; i++) s += out[i] * (i % 5);
    printf("%.17g\\n", s);
    return 0;
}
""", "const double bank_norm_once = (i < b->count) ? bank_norm(b) : 0;",
    ),
    cpp(
        "member function", "hoist-invariant-call",
        """
class Lens {
public:
  Lens(double r, double n, int order) : radius_(r), index_(n) {
    for (int i = 0; i < order; ++i) coeff_.push_back(1.0 / (1 + i));
  }
  double power() const {
    double p = 0.0;
    for (std::size_t i = 0; i < coeff_.size(); ++i) p += coeff_[i] * std::pow(index_ - 1.0, (double)i) / radius_;
    return p;
  }

private:
  double radius_, index_;
  std::vector<double> coeff_;
};
static void trace(const Lens &lens, const std::vector<double> &in, std::vector<double> &out) {
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = in[i] - in[i] * lens.power();
}
int main() {
  Lens lens(12.5, 1.52, 9);
  std::vector<double> in(40), out(40);
  for (int i = 0; i < 40; ++i) in[i] = 0.1 * i;
  trace(lens, in, out);
  double s = 0;
  for (int i = 0; i < 40; ++i) s += out[i] * i;
  std::printf("%.17g\\n", s);
}
""", "const double power_once = 0 < in.size() ? lens.power() : 0;",
    ),
    c(
        "pieces of a text", "keep-end-of-text",
        """
static char *join(char **words, int n)
{
    char *out = malloc(16 * n + 1);
    out[0] = '\\0';
    for (int i = 0; i < n; i++) {
        strcat(out, words[i]);
        if (i + 1 < n)
            strcat(out, ", ");
    }
    return out;
}
int main(void)
{
    char *words[] = {"one", "two", "", "four"};
    puts(join(words, 4));
    return 0;
}
""", "char *out_end = out + strlen(out);", "out_end = append_text(out_end, words[i]);",
    ),
    cpp(
        "declared before", "pass-by-reference",
        """
double mean_of(std::vector<double>, int first, int last);
int main() {
  std::vector<double> v(50, 0.25);
  double s = 0;
  for (int i = 0; i < 40; i++) s += mean_of(v, i, i + 3) * i;
  std::printf("%.17g\\n", s);
}
double mean_of(std::vector<double> values, int first, int last) {
  double sum = 0.0;
  for (int i = first; i < last; i++) sum += values[i];
  return sum / (last - first);
}
""", "double mean_of(const std::vector<double> &, int first, int last);", "double mean_of(const std::vector<double> &values,",
    ),
    c(
        "three dimensions by a macro", "interchange-loops",
        """
#define N 12
#define V(a, i, j, k) (a)[((i) * N + (j)) * N + (k)]
static double a[N * N * N], b[N * N * N];
static void diffuse(double *out, const double *in)
{
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++)
                V(out, i, j, k) = V(in, i - 1, j, k) + V(in, i, j + 1, k) - V(in, i, j, k - 1);
}
int main(void)
{
    double t = 0;
    for (int i = 0; i < N * N * N; i++) a[i] = b[i] = i % 17;
    diffuse(b, a);
    diffuse(a, b);
    for (int i = 0; i < N * N * N; i++) t += a[i] * (i % 5);
    printf("%.17g\\n", t);
    return 0;
}
""", "for (int i = 1; i < N - 1; i++)\n        for (int j = 1; j < N - 1; j++)\n            for (int k = 1; k < N - 1; k++)\n                V(out, i, j, k) =",
    ),
)  # fmt: skip
