#include <stdio.h>
#include <stdlib.h>

#define MAXN 64

typedef struct {
  int n;
  int a[MAXN], b[MAXN];
} Pair;

static void pair_fill(Pair *p, int n, unsigned s) {
  p->n = n;
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    p->a[i] = (s >> 16) % 11;
    s = s * 1664525u + 1013904223u;
    p->b[i] = (s >> 16) % 11;
  }
}

static int memo[MAXN + 1][MAXN + 1];

static int best(const Pair *p, int i, int j) {
  if (i == p->n || j == p->n) return 0;
  if (memo[i][j]) return memo[i][j] - 1;
  if (p->a[i] == p->b[j]) return (memo[i][j] = 2 + best(p, i + 1, j + 1)) - 1;
  int x = best(p, i + 1, j);
  int y = best(p, i, j + 1);
  return (memo[i][j] = 1 + (x > y ? x : y)) - 1;
}

static long histogram(const Pair *p) {
  long h[16] = {0}, s = 0;
  for (int r = 0; r < 20000; r++)
    for (int i = 0; i < p->n; i++) h[(p->a[i] + p->b[i] + r) & 15] += r & 3;
  for (int k = 0; k < 16; k++) s += h[k] * k;
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 15;
  int pairs = argc > 2 ? atoi(argv[2]) : 60;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 17u;
  long s = 0, h = 0;
  for (int k = 0; k < pairs; k++) {
    Pair p;
    pair_fill(&p, n, seed + k);
    s += best(&p, 0, 0) * (k + 1);
    h = (h * 31 + histogram(&p)) % 1000003;
  }
  printf("checksum %ld %ld\n", s, h);
  return 0;
}
