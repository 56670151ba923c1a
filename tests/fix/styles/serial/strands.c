#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char base_t;

typedef struct {
  base_t *seq;
  int len;
} Strand;

static int min3(int a, int b, int c) {
  int m = a < b ? a : b;
  return m < c ? m : c;
}

static int distance(const Strand *a, const Strand *b) {
  int **d = malloc((a->len + 1) * sizeof *d);
  for (int i = 0; i <= a->len; i++) {
    d[i] = malloc((b->len + 1) * sizeof **d);
    d[i][0] = i;
  }
  for (int j = 0; j <= b->len; j++) d[0][j] = j;
  for (int i = 1; i <= a->len; i++)
    for (int j = 1; j <= b->len; j++) {
      int sub = d[i - 1][j - 1] + (a->seq[i - 1] != b->seq[j - 1]);
      d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, sub);
    }
  int r = d[a->len][b->len];
  for (int i = 0; i <= a->len; i++) free(d[i]);
  free(d);
  return r;
}

static Strand *library(int n) {
  Strand *lib = malloc(n * sizeof *lib);
  unsigned x = 2463534242u;
  for (int i = 0; i < n; i++) {
    lib[i].len = 8 + i % 5;
    lib[i].seq = malloc(lib[i].len);
    for (int k = 0; k < lib[i].len; k++) {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      lib[i].seq[k] = "ACGT"[x & 3];
    }
  }
  return lib;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3000;
  Strand *lib = library(n);
  int tally[32];
  memset(tally, 0, sizeof tally);
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) tally[distance(&lib[i], &lib[j])]++;
  long sum = 0;
  for (int k = 0; k < 32; k++) sum += (long)k * k * tally[k];
  printf("checksum %ld %d\n", sum, tally[0]);
  return 0;
}
