#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *compose(int n, unsigned s) {
  char *t = malloc(n + 1);
  for (int i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    t[i] = (char)((s >> 24) % 5 ? 'a' + (s >> 16) % 26 : ' ');
  }
  t[n] = '\0';
  return t;
}

static void shift_letters(char *t, int by) {
  const size_t n = strlen(t);
  for (size_t i = 0; i < n - 1; i++)
    if (t[i] >= 'a' && t[i] <= 'z') t[i] = (char)('a' + (t[i] - 'a' + by) % 26);
}

static long words(const char *t) {
  long n = 0;
  for (; *t; t++) n += *t == ' ' && t[1] != ' ';
  return n;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100000, rounds = argc > 2 ? atoi(argv[2]) : 2;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 4u;
  char *t = compose(n, seed);
  unsigned long h = 5381;
  for (int r = 0; r < rounds; r++) {
    shift_letters(t, 3 + r);
    for (const char *c = t; *c; c++) h = h * 33 + (unsigned char)*c;
  }
  printf("checksum %lu %ld\n", h, words(t));
  free(t);
  return 0;
}
