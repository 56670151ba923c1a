#include <stdio.h>
#include <stdlib.h>

#define LINKS 400

static double link_[LINKS], pull[LINKS];

static void settle(int steps) {
  for (int s = 0; s < steps; s++) {
    for (int i = 1; i < LINKS - 1; i++) pull[i] = link_[i - 1] - 2 * link_[i] + link_[i + 1];
    for (int i = 1; i < LINKS - 1; i++) link_[i] += 0.2 * pull[i];
  }
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 250000;
  double sum = 0;
  link_[LINKS / 2] = 1000;
  settle(steps);
  for (int i = 0; i < LINKS; i++) sum += link_[i];
  printf("checksum %.8e\n", sum);
  return 0;
}
