"""What is read in C, and what is not."""

from __future__ import annotations

import pytest

from tests.diagnosis.source.programs import Case, case, first_cause

STRIDED, QUADRATIC, RECURSION = "strided-access", "quadratic-algorithm", "redundant-recursion"
STREAM, LATENCY, INVARIANT = "memory-bandwidth", "memory-latency", "loop-invariant-work"
SHARING, CRITICAL, MATH, CHURN = "omp-false-sharing", "omp-critical-contention", "expensive-math", "allocation-churn"

CASES = [
    case("loops in the wrong order over a two-dimensional array", STRIDED, """
void f(int n, double a[n][n], double b[n][n]) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      a[i][j] += b[i][j]; // HOT
}"""),
    case("each row is searched once for its last high value", "", """
void tops(const struct curtain *c, int threshold, int *tops) {
  for (int s = 0; s < c->shots; s++) {
    const unsigned char *p = c->look + (size_t)s * c->bins;
    int b = c->bins - 1;
    while (b > 0 && p[b] < threshold) // HOT
      b--;
    tops[s] = b;
  }
}"""),
    case("the same table is searched for each item", QUADRATIC, """
void find(const int *table, int size, const int *wanted, int *at, int n) {
  for (int s = 0; s < n; s++) {
    int key = wanted[s];
    int b = size - 1;
    while (b > 0 && table[b] != key) // HOT
      b--;
    at[s] = b;
  }
}"""),
    case("the right order", "", """
void f(int n, double a[n][n], double b[n][n], double c[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i][j] * b[i][j] + c[i][j] * (b[i][j] + 2.0 * c[i][j] + a[i][j] * c[i][j]); // HOT
}"""),
    case("a flattened index with the row in the innermost loop", STRIDED, """
void f(double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[j * n + i] = 0.5 * b[j * n + i]; // HOT
}"""),
    case("a flattened index in a variable", STRIDED, """
void f(double *a, const double *b, int nx, int ny) {
  for (int x = 0; x < nx; x++)
    for (int y = 0; y < ny; y++) {
      size_t at = (size_t)y * nx + x;
      a[at] = 0.5 * b[at]; // HOT
    }
}"""),
    case("an index that is moved on by a row", STRIDED, """
double f(const double *a, int rows, int cols) {
  double s = 0;
  for (int j = 0; j < cols; j++) {
    int at = j;
    for (int i = 0; i < rows; i++) {
      s += a[at] * a[at]; // HOT
      at += cols;
    }
  }
  return s;
}"""),
    case("an increment of a BLAS routine may be 1", "", """
double f(const double *x, int n, int incx) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i * incx] * x[i * incx] * x[i * incx] * 3.0 + x[i * incx]; // HOT
  return s;
}"""),
    case("a matrix product with the second matrix by columns", STRIDED, """
void f(int n, const double *a, const double *b, double *c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j]; // HOT
      c[i * n + j] = s;
    }
}"""),
    case("a matrix that fits into the cache", "", """
#define N 16
static double m[N][N];
double f(int r) {
  double s = 0;
  for (int q = 0; q < r; q++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++)
        s += m[i][j] * m[i][j] * 2.0 + s * 0.5 - m[i][j]; // HOT
  return s;
}"""),
    case("coordinates side by side", "", """
void f(double (*r)[3], double (*v)[3], int n, double dt) {
  for (int i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++)
      r[i][d] += dt * v[i][d] * (1.0 + dt * v[i][d] * 0.5 + dt * dt * r[i][d]); // HOT
  }
}"""),
    case("few bytes of a large structure", STRIDED, """
struct Cell { double e; double rest[30]; };
double f(struct Cell *cells, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += cells[i].e; // HOT
  return s;
}"""),
    case("most of a structure", STREAM, """
struct Cell { double e, x, y, z; };
double f(struct Cell *cells, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += cells[i].e * cells[i].x + cells[i].y * cells[i].z; // HOT
  return s;
}"""),
    case("the third dimension innermost", STRIDED, """
void f(double *u, const double *v, int nx, int ny, int nz) {
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++)
      for (int k = 0; k < nz; k++)
        u[(k * ny + j) * nx + i] = v[(k * ny + j) * nx + i] * 2.0; // HOT
}"""),
    case("samples of an array on purpose", "", """
double f(const double *v, int n) {
  double s = 0;
  for (int i = 0; i < n; i += 64)
    if (v[i] > s) s = v[i]; // HOT
  return s;
}"""),
    case("an unrolled loop", "", """
double f(const double *v, int n) {
  double s = 0;
  for (int i = 0; i < n; i += 8)
    s += v[i] * v[i + 1] * v[i + 2] * v[i + 3] + v[i + 4] * v[i + 5] * v[i + 6] * v[i + 7] - s * s * 0.5; // HOT
  return s;
}"""),
    case("a search in an array", QUADRATIC, """
int f(const long *keys, int n, long key) {
  for (int i = 0; i < n; i++)
    if (keys[i] == key) // HOT
      return i;
  return -1;
}"""),
    case("the same called once", "", """
/* ONCE */
int f(const long *keys, int n, long key) {
  for (int i = 0; i < n; i++)
    if (keys[i] == key) // HOT
      return i;
  return -1;
}"""),
    case("a search among names", QUADRATIC, """
int f(char **names, int *count, const char *name) {
  for (int i = 0; i < *count; i++) {
    if (strcmp(names[i], name) == 0) // HOT strcmp
      return i;
  }
  names[(*count)++] = strdup(name);
  return *count - 1;
}"""),
    case("a search along a list", QUADRATIC, """
struct Node { long key; struct Node *next; };
struct Node *f(struct Node *head, long key) {
  struct Node *p = head;
  while (p && p->key != key) // HOT
    p = p->next;
  return p;
}"""),
    case("a search by halves", LATENCY, """
int f(const double *x, int n, double v) {
  int lo = 0, hi = n;
  while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    if (x[mid] > v) hi = mid; // HOT
    else lo = mid;
  }
  return lo;
}"""),
    case("the end of a text", "", """
int f(const char *s) {
  int n = 0;
  for (;; n++)
    if (s[n] == 0) // HOT
      break;
  return n;
}"""),
    case("merging two sorted lists", "", """
int f(const int *a, int n, const int *b, int m) {
  int i = 0, same = 0;
  for (int j = 0; j < m; j++) {
    while (i < n && a[i] < b[j]) // HOT
      i++;
    same += i < n && a[i] == b[j];
  }
  return same;
}"""),
    case("an iteration until it converges", "", """
double f(double x, double tol) {
  for (int i = 0; i < 1000; i++) {
    double d = (x * x - 2.0) / (2.0 * x); // HOT
    x -= d;
    if (d * d < tol) break;
  }
  return x;
}"""),
    case("a search among few", "", """
int f(const double *bounds, double v) {
  for (int i = 0; i < 8; i++)
    if (bounds[i] > v) // HOT
      return i;
  return 8;
}"""),
    case("a largest element", "", """
int f(const double *v, int n) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (v[i] > v[best]) best = i; // HOT
  return best;
}"""),
    case("all pairs compared for duplicates", QUADRATIC, """
int f(const long *id, int n) {
  int same = 0;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      if (id[i] == id[j]) // HOT
        same++;
  return same;
}"""),
    case("all pairs of a direct sum", "", """
double f(const double *x, const double *q, int n) {
  double e = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double d = x[i] - x[j];
      e += q[i] * q[j] / (d * d + 1e-4); // HOT
    }
  return e;
}"""),
    case("a text that is appended to from its beginning", QUADRATIC, """
void f(char *out, char **words, int n) {
  for (int i = 0; i < n; i++)
    strcat(out, words[i]); // HOT strcat
}"""),
    case("numbers that come from the two before", RECURSION, """
static long fib(int n) {
  if (n < 2) return n;
  return fib(n - 1) + fib(n - 2); // HOT
}"""),
    case("paths through a grid", RECURSION, """
static long paths(const int *wall, int w, int x, int y) {
  if (x == 0 || y == 0) return 1;
  if (wall[y * w + x]) return 0;
  return paths(wall, w, x - 1, y) + paths(wall, w, x, y - 1); // HOT
}"""),
    case("a knapsack", RECURSION, """
static int best(const int *w, const int *v, int n, int i, int room) {
  if (i == n) return 0;
  int skip = best(w, v, n, i + 1, room);
  if (w[i] > room) return skip;
  int take = v[i] + best(w, v, n, i + 1, room - w[i]); // HOT
  return take > skip ? take : skip;
}"""),
    case("results that are kept", "", """
static long memo[100];
static long fib(int n) {
  if (n < 2) return n;
  if (memo[n]) return memo[n];
  memo[n] = fib(n - 1) + fib(n - 2); // HOT
  return memo[n];
}"""),
    case("a tree of which each node is visited once", "", """
struct T { struct T *left, *right; double v; };
static double sum(const struct T *t) {
  if (!t) return 0;
  return t->v + sum(t->left) + sum(t->right); // HOT
}"""),
    case("halves that do not overlap", "", """
static double sum(const double *v, int lo, int hi) {
  if (hi - lo < 2) return v[lo];
  int mid = (lo + hi) / 2;
  return sum(v, lo, mid) + sum(v, mid, hi); // HOT
}"""),
    case("a heap in an array", "", """
static double sum(const double *v, int n, int i) {
  if (i >= n) return 0;
  return v[i] + sum(v, n, 2 * i + 1) + sum(v, n, 2 * i + 2); // HOT
}"""),
    case("a search that sets and unsets", "", """
static int used[32];
static long place(int n, int row) {
  if (row == n) return 1;
  long s = 0;
  for (int c = 0; c < n; c++)
    if (!used[c]) {
      used[c] = 1;
      s += place(n, row + 1); // HOT
      used[c] = 0;
    }
  return s;
}"""),
    case("a triad", STREAM, """
void f(double *a, const double *b, const double *c, double q, long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i] + q * c[i]; // HOT
}"""),
    case("a copy", STREAM, """
void f(double *a, const double *b, long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i]; // HOT
}"""),
    case("a triad over arrays that stay in the cache", "", """
static double a[4096], b[4096], c[4096];
void f(double q) {
  for (int i = 0; i < 4096; i++)
    a[i] = b[i] + q * c[i]; // HOT
}"""),
    case("a recurrence", "", """
void f(double *x, const double *b, int n) {
  for (int i = 1; i < n; i++)
    x[i] = b[i] - 0.5 * x[i - 1]; // HOT
}"""),
    case("a polynomial", "", """
void f(double *y, const double *x, int n) {
  for (int i = 0; i < n; i++)
    y[i] = ((((x[i] * 0.1 + 0.2) * x[i] + 0.3) * x[i] + 0.4) * x[i] + 0.5) * x[i] + 0.6; // HOT
}"""),
    case("a list that is followed", LATENCY, """
struct Node { double v; struct Node *next; };
double f(const struct Node *head) {
  double s = 0;
  for (const struct Node *p = head; p; p = p->next)
    s += p->v; // HOT
  return s;
}"""),
    case("a list that is made anew for each item", "", """
struct Node { double v; struct Node *next; };
struct Node *around(int c);
double f(int n) {
  double s = 0;
  for (int c = 0; c < n; c++) {
    struct Node *list = around(c);
    for (struct Node *p = list; p; p = p->next)
      s += p->v; // HOT
  }
  return s;
}"""),
    case("a permutation", LATENCY, """
double f(const double *v, const int *order, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += v[order[i]]; // HOT
  return s;
}"""),
    case("a chain of indices", LATENCY, """
long f(const long *next, long start, long n) {
  long at = start;
  for (long i = 0; i < n; i++)
    at = next[at]; // HOT
  return at;
}"""),
    case("a small table", "", """
static double table[256];
double f(const unsigned char *v, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += table[v[i]]; // HOT
  return s;
}"""),
    case("a histogram", "", """
void f(int *h, const int *bin, int n) {
  for (int i = 0; i < n; i++)
    h[bin[i]]++; // HOT
}"""),
    case("a norm that stays the same", INVARIANT, """
static double norm(const double *w, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += w[i] * w[i];
  return s;
}
void f(double *v, const double *w, int n) {
  for (int i = 0; i < n; i++)
    v[i] /= norm(w, n); // HOT norm
}"""),
    case("a norm of what the loop changes", "", """
static double norm(const double *w, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += w[i] * w[i] * w[i] * 0.25 + s * 0.5 - w[i];
  return s;
}
void f(double *w, int n) {
  for (int i = 0; i < n; i++)
    w[i] /= norm(w, n); // HOT norm
}"""),
    case("a generator that keeps a state", "", """
static unsigned state;
static double draw(int n) {
  state = state * 1664525u + 1013904223u;
  return state % n;
}
double f(int n) {
  double s = 0;
  for (int i = 0; i < 1000000; i++)
    s += draw(n); // HOT draw
  return s;
}"""),
    case("the length of a text in the loop's condition", INVARIANT, """
int f(char *s, char c) {
  int n = 0;
  for (int i = 0; i < strlen(s); i++) // HOT strlen
    if (s[i] == c) n++;
  return n;
}"""),
    case("the length of a text whose characters are replaced", INVARIANT, """
int f(char *s) {
  int n = 0;
  for (unsigned long i = 0; i < strlen(s); i++) { // HOT strlen
    if (s[i] == 'a') {
      s[i] = toupper(s[i]);
      n++;
    }
  }
  return n;
}"""),
    case("the length of a text that is cut", "", """
int f(char *s) {
  int n = 0;
  for (unsigned long i = 0; i < strlen(s); i++) { // HOT strlen
    if (s[i] == 'a') s[i] = '\\0';
    n++;
  }
  return n;
}"""),
    case("the length of a text that moves on", "", """
int f(char *s) {
  int n = 0;
  while (strlen(s) > 0) { // HOT strlen
    s[0] = 'b';
    s++;
    n++;
  }
  return n;
}"""),
    case("neighbouring counters of threads", SHARING, """
long hits[64];
void f(const int *v, int n) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      hits[me] += v[i] & 1; // HOT
  }
}"""),
    case("padded counters", "", """
struct Padded { long v; char rest[56]; };
struct Padded hits[64];
void f(const int *v, int n) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      hits[me].v += v[i] & 1; // HOT
  }
}"""),
    case("a counter of its own that is stored once", "", """
long hits[64];
void f(const int *v, int n) {
#pragma omp parallel
  {
    long mine = 0;
#pragma omp for
    for (int i = 0; i < n; i++)
      mine += (v[i] & 1) * (v[i] + 3) * (v[i] - 7) + (mine >> 2); // HOT
    hits[omp_get_thread_num()] = mine;
  }
}"""),
    case("an atomic update in a loop", CRITICAL, """
double f(const double *v, int n) {
  double s = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    s += v[i]; // HOT
  }
  return s;
}"""),
    case("an atomic built-in", CRITICAL, """
void f(const int *v, int n, long *hist) { // in threads of omp
  for (int i = 0; i < n; i++)
    __sync_fetch_and_add(&hist[v[i]], 1); // HOT
}"""),
    case("an atomic update in a function that a loop calls", CRITICAL, """
void f(double *tally, int x, int y, int nx, double energy) {
#pragma omp atomic update
  tally[y * nx + x] += energy; // HOT
}"""),
    case("an atomic read in a function that a loop calls", "", """
void f(const long *tally, int x, long *out) {
#pragma omp atomic read
  *out = tally[x]; // HOT
}"""),
    case("a function of C that is atomic", CRITICAL, """
void f(const int *v, int n, atomic_long *sum) { // in threads of omp
  for (int i = 0; i < n; i++)
    atomic_fetch_add(sum, v[i]); // HOT
}"""),
    case("a reduction", STREAM, """
double f(const double *v, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += v[i]; // HOT
  return s;
}"""),
    case("divisions by what stays the same", MATH, """
void f(double *v, int n, double dx, double dy) {
  for (int i = 0; i < n; i++)
    v[i] = v[i] / dx / dy; // HOT
}"""),
    case("a division by what changes", "", """
void f(double *v, const double *d, int n) {
  for (int i = 0; i < n; i++)
    v[i] = v[i] / (1.0 + d[i] * d[i]); // HOT
}"""),
    case("exponentials where no library was seen", MATH, """
void f(double *v, int n) {
  for (int i = 0; i < n; i++)
    v[i] = exp(-v[i]) + sin(v[i]); // HOT
}"""),
    case("text that is no C", "", """
void f(double *v, int n) {
  FOR_ALL(i, n) do_it for v[i] = ; ) // HOT
}"""),
    case("a bucket of a hash table", "", """
struct E { long key; int v; struct E *next; };
int f(struct E **table, unsigned n, long key) {
  for (struct E *p = table[key % n]; p; p = p->next)
    if (p->key == key) return p->v; // HOT
  return -1;
}"""),
    case("open addressing", LATENCY, """
int f(const long *keys, long cap, long key) {
  long h = (key * 2654435761u) % cap;
  while (keys[h] != 0 && keys[h] != key) // HOT
    h = (h + 1) % cap;
  return h;
}"""),
    case("a row of a sparse matrix", "", """
double f(const int *row, const int *col, const double *val, int i, int j) {
  for (int k = row[i]; k < row[i + 1]; k++)
    if (col[k] == j) return val[k]; // HOT
  return 0;
}"""),
    case("exchanging neighbours", QUADRATIC, """
void f(double *a, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j + 1 < n - i; j++)
      if (a[j] > a[j + 1]) { // HOT
        double t = a[j];
        a[j] = a[j + 1];
        a[j + 1] = t;
      }
}"""),
    case("shifting items", QUADRATIC, """
void f(double *a, int n) {
  for (int i = 1; i < n; i++) {
    double x = a[i];
    int j = i - 1;
    while (j >= 0 && a[j] > x) { // HOT
      a[j + 1] = a[j];
      j--;
    }
    a[j + 1] = x;
  }
}"""),
    case("two lists compared item by item", QUADRATIC, """
int f(const int *a, int n, const int *b, int m) {
  int k = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (a[i] == b[j]) k++; // HOT
  return k;
}"""),
    case("a flag that tells what is known", QUADRATIC, """
int f(const int *a, int n, int *out) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    int found = 0;
    for (int j = 0; j < k; j++)
      if (out[j] == a[i]) { found = 1; break; } // HOT
    if (!found) out[k++] = a[i];
  }
  return k;
}"""),
    case("random places in a table", LATENCY, """
unsigned long f(unsigned long *t, unsigned long mask, long n) {
  unsigned long s = 1, r = 0;
  for (long i = 0; i < n; i++) {
    s = s * 6364136223846793005UL + 1442695040888963407UL;
    r += t[(s >> 20) & mask]; // HOT
  }
  return r;
}"""),
    case("random places in a small table", "", """
unsigned long f(unsigned long *t, long n) {
  unsigned long s = 1, r = 0;
  for (long i = 0; i < n; i++) {
    s = s * 6364136223846793005UL + 1442695040888963407UL;
    r += t[(s >> 20) & 255]; // HOT
  }
  return r;
}"""),
    case("a matrix product in the right order", "", """
void f(double *c, const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double x = a[i * n + k];
      for (int j = 0; j < n; j++)
        c[i * n + j] += x * b[k * n + j] + x * x * 0.5 * c[i * n + j] - b[k * n + j] * 0.125; // HOT
    }
}"""),
    case("a Fourier transform", "", """
void f(double *re, double *im, const double *wr, const double *wi, int n) {
  for (int len = 2; len <= n; len <<= 1)
    for (int i = 0; i < n; i += len)
      for (int k = 0; k < len / 2; k++) {
        double ur = re[i + k], ui = im[i + k];
        double vr = re[i + k + len / 2] * wr[k * (n / len)] - im[i + k + len / 2] * wi[k * (n / len)]; // HOT
        re[i + k] = ur + vr; im[i + k] = ui + vr;
      }
}"""),
    case("a sieve", "", """
void f(char *composite, long n) {
  for (long i = 2; i * i <= n; i++)
    if (!composite[i])
      for (long j = i * i; j <= n; j += i) composite[j] = 1; // HOT
}"""),
    case("rows of their own walked by columns", STRIDED, """
void f(double **a, double *x, const double *y, int n) {
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int i = 0; i < n; i++)
      s += a[i][j] * y[i]; // HOT
    x[j] = s;
  }
}"""),
    case("a polynomial by Horner's rule", "", """
double f(double x, int n, const double *c) {
  double s = 0;
  for (int i = n - 1; i >= 0; i--)
    s = s * x + c[i] + x * s * 0.5 + c[i] * x; // HOT
  return s;
}"""),
    case("a comparison for sorting", "", """
static int cmp(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y); // HOT
}"""),
    case("a thread's own counters, reached by a pointer and handed on", SHARING, """
typedef struct { long hits[4]; } Tally;
static Tally tallies[64];
static __attribute__((noinline)) void record(Tally *t, unsigned x) { t->hits[x & 3] += 1; }
void f(const unsigned *v, int n) {
#pragma omp parallel
  {
    Tally *mine = &tallies[omp_get_thread_num()];
#pragma omp for
    for (int i = 0; i < n; i++)
      record(mine, v[i]); // HOT record
  }
}"""),
    case("a thread's own padded counters, handed on", "", """
typedef struct { long hits[4]; char pad[96]; } Tally;
static Tally tallies[64];
static __attribute__((noinline)) void record(Tally *t, unsigned x) { t->hits[x & 3] += 1; }
void f(const unsigned *v, int n) {
#pragma omp parallel
  {
    Tally *mine = &tallies[omp_get_thread_num()];
#pragma omp for
    for (int i = 0; i < n; i++)
      record(mine, v[i]); // HOT record
  }
}"""),
    case("a thread's own counters, written through a pointer", SHARING, """
typedef struct { long n; double s; } Sum;
static Sum sums[64];
void f(const double *v, int n) {
#pragma omp parallel
  {
    Sum *mine = &sums[omp_get_thread_num()];
#pragma omp for
    for (int i = 0; i < n; i++)
      mine->s += v[i]; // HOT
  }
}"""),
    case("a counter whose address is handed on", SHARING, """
static long hits[64];
static void count(long *h, int x) { *h += x & 1; }
void f(const int *v, int n) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      count(&hits[me], v[i]); // HOT
  }
}"""),
    case("a row of counters for each thread", "", """
static long hits[64][32];
void f(const int *v, int n) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      hits[me][v[i] & 31]++; // HOT
  }
}"""),
    case("a short row of counters for each thread", SHARING, """
static long hits[64][2];
void f(const int *v, int n) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      hits[me][v[i] & 1]++; // HOT
  }
}"""),
    case("counters of a type that nobody knows", "", """
static tally_t hits[64];
void f(const int *v, int n) {
#pragma omp parallel
  {
    int me = omp_get_thread_num();
#pragma omp for
    for (int i = 0; i < n; i++)
      hits[me].n += v[i]; // HOT
  }
}"""),
    case("a critical section in a loop only supports what was measured", "", """
void f(double *s, const double *v, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp critical
    { s[0] += v[i] * v[i] * s[0] - s[0] * 0.5 + v[i] * s[0]; } // HOT
  }
}"""),
    case("an atomic read", "", """
int f(const int *flag, int n) {
  int seen = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    int x;
#pragma omp atomic read
    x = *flag; // HOT
    seen |= x;
  }
  return seen;
}"""),
    case("strips that together visit all", STRIDED, """
double f(const double *v, int n) {
  double s = 0;
  for (int k = 0; k < 100; k++)
    for (int i = k; i < n; i += 100)
      s += v[i]; // HOT
  return s;
}"""),
    case("an array inside each structure", "", """
struct Cell { double u[8]; };
double f(struct Cell *c, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 8; k++)
      s += c[i].u[k] * s * 0.5 + s * s - c[i].u[k] * 2.0; // HOT
  return s;
}"""),
    case("large structures that are handed on", "", """
struct Cell { double e; double rest[30]; };
double f(struct Cell *cells, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += cells[i].e + work(&cells[i]); // HOT
  return s;
}"""),
    case("a search with a switch", "", """
int f(const int *v, int n, int key) {
  for (int i = 0; i < n; i++)
    switch (v[i] - key) { case 0: return i; default: break; } // HOT
  return -1;
}"""),
    case("a search that gives up with goto", "", """
int f(const int *v, int n, int key) {
  int i;
  for (i = 0; i < n; i++)
    if (v[i] == key) goto out; // HOT
out:
  return i;
}"""),
    case("a function with a state of its own", "", """
static double next(double a) { static double s = 1; s = s * a; return s; }
double f(int n, double a) {
  double t = 0;
  for (int i = 0; i < n; i++)
    t += next(a) * t; // HOT next
  return t;
}"""),
    case("a function of numbers that keeps a state", "", """
static double s = 1;
static double next(double a) { s = s * a; return s; }
double f(int n) {
  double t = 0;
  for (int i = 0; i < n; i++)
    t += next(1.5) * t; // HOT next
  return t;
}"""),
    case("a function of numbers that notes its result", INVARIANT, """
static volatile double sink;
static double coefficient(double a) { double c = 0; for (int k = 0; k < 99; k++) c += a / (k + a); sink = c; return c; }
void f(double *v, int n) {
  for (int i = 0; i < n; i++)
    v[i] *= coefficient(1.5); // HOT coefficient
}"""),
    case("a function that reads what the loop writes", "", """
static double level;
static __attribute__((noinline)) double above(double a) { return a > level ? a - level : 0; }
void f(double *v, int n, double a) {
  for (int i = 0; i < n; i++) {
    v[i] += above(a) * v[i]; // HOT above
    level += v[i];
  }
}"""),
    case("a function that calls a pure one", INVARIANT, """
static double inner(double a) { return sqrt(a) * a; }
static double outer(double a) { double s = 0; for (int k = 0; k < 50; k++) s += inner(a + k); return s; }
void f(double *v, int n, double a) {
  for (int i = 0; i < n; i++)
    v[i] *= outer(a); // HOT outer
}"""),
    case("a function that prints", "", """
static double noisy(double a) { printf("%g", a); return a * a; }
void f(double *v, int n, double a) {
  for (int i = 0; i < n; i++)
    v[i] *= noisy(a); // HOT noisy
}"""),
    case("an array that another call may change", "", """
static double norm(const double *w, int n) { double s = 0; for (int i = 0; i < n; i++) s += w[i]; return s; }
void f(double *v, const double *w, int n) {
  for (int i = 0; i < n; i++) {
    refresh(i);
    v[i] = norm(w, n); // HOT norm
  }
}"""),
    case("a benchmark that repeats its work", "", """
static double kernel(const double *w, int n) { double s = 0; for (int i = 0; i < n; i++) s += w[i] * s + w[i] * w[i]; return s; }
int main(int argc, char **argv) {
  double s = 0;
  for (int t = 0; t < argc; t++)
    s += kernel(w, 1000); // HOT kernel
  return s > 0;
}"""),
    case("recursion with a third argument that is added to", RECURSION, """
static int count(int n, int sum, int a) {
  if (n == 0) return sum == a;
  return count(n - 1, 2 + sum, a) + count(n - 1 - 1, sum, a); // HOT
}"""),
    case("recursion inside an argument", "", """
static int ack(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ack(m - 1, 1);
  return ack(m - 1, ack(m, n - 1)); // HOT
}"""),
    case("powers whose exponent is a variable", MATH, """
void f(double *v, double g, int n) {
  for (int i = 0; i < n; i++)
    v[i] = pow(v[i], g); // HOT pow
}"""),
    case("a step written as a sum", STREAM, """
void f(double *a, const double *b, long n) {
  for (long i = 0; i < n; i = i + 1)
    a[i] = b[i]; // HOT
}"""),
    case("blanks at the beginning of a text", "", """
int f(const char *s, int len) {
  int i = 0;
  while (i < len && s[i] <= 32) // HOT
    i++;
  return i;
}"""),
    case("an item that is copied before it is compared", QUADRATIC, """
int f(const long *keys, int n, long key) {
  int i = 0;
  while (i < n) {
    long k = keys[i];
    if (k == key) return i; // HOT
    i++;
  }
  return -1;
}"""),
    case("a function of numbers in another file that may read something", "", """
double read_sensor(int channel);
double f(int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += read_sensor(3) * s; // HOT
  return s;
}"""),
]  # fmt: skip


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_c(one: Case) -> None:
    assert first_cause(one.text, "a.c") == one.cause
