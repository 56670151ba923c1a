#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int log_file;

static void note(float depth) {
  static float kept[4096];
  static int held;
  kept[held++] = depth;
  if (held == 4096) {
    write(log_file, kept, sizeof kept);
    held = 0;
  }
}

static double echo(double t) {
  double s = 0, p = 1, q = t * t;
  for (int k = 1; k <= 12; k++) {
    p *= q;
    s += p / (k * k);
  }
  return s;
}

int main(int argc, char **argv) {
  int pings = argc > 1 ? atoi(argv[1]) : 1800000;
  double sum = 0;
  log_file = open("sonar.tmp", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  for (int i = 0; i < pings; i++) {
    double depth = echo(0.3 + 0.6 * (i % 1000) / 1000.0);
    sum += depth;
    note((float)depth);
  }
  close(log_file);
  unlink("sonar.tmp");
  printf("checksum %.8e\n", sum);
  return 0;
}
