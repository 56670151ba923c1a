#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path = "readings.tmp";

static void produce(int n, unsigned seed) {
  FILE *f = fopen(path, "w");
  if (!f) exit(1);
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    putc('0' + (seed >> 16) % 10, f);
    if ((seed >> 24) % 6 == 0) putc('\n', f);
  }
  fclose(f);
}

static long count(long *lines) {
  int fd = open(path, O_RDONLY);
  static char block[65536];
  ssize_t got;
  long value = 0, sum = 0;
  *lines = 0;
  while ((got = read(fd, block, sizeof block)) == (ssize_t)sizeof block)
    for (ssize_t k = 0; k < got; k++) {
    char c = block[k];
    if (c == '\n') {
      sum += value;
      value = 0;
      ++*lines;
    } else {
      value = (value * 10 + (c - '0')) % 1000003;
    }
  }
  close(fd);
  return sum + value;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 900000;
  unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1u;
  long lines;
  produce(n, seed);
  long sum = count(&lines);
  unlink(path);
  printf("checksum %ld %ld\n", sum, lines);
  return 0;
}
