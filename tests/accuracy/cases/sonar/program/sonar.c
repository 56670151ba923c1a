#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int log_file;

static void note(float depth) {
  write(log_file, &depth, sizeof depth);
}

static double echo(double t) {
  double s = 0;
  for (int k = 1; k <= 12; k++) s += pow(t, 2.0 * k) / (k * k);
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
