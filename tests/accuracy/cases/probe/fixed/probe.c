#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int file;
static double kept[8192];
static int held;

static void finish(void) {
  write(file, kept, held * sizeof *kept);
  held = 0;
}

static void record(double value) {
  kept[held++] = value;
  if (held == 8192) finish();
}

int main(int argc, char **argv) {
  int samples = argc > 1 ? atoi(argv[1]) : 3000000;
  double x = 0.37, sum = 0;
  file = open("series.tmp", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  for (int i = 0; i < samples; i++) {
    x = 3.9 * x * (1 - x);
    sum += x;
    record(x);
  }
  finish();
  close(file);
  unlink("series.tmp");
  printf("checksum %.10e\n", sum);
  return 0;
}
