#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 6000

static double price[ITEMS];

static double discount(double p) {
  return p * p * sqrt(p) * 1e-3;
}

static double bundle(int i) {
  double s = 0;
  double part[64];
  for (int k = 0; k < 6; k++) part[k] = price[(i + k) % ITEMS];
  for (int k = 0; k < 6; k++) s += part[k];
  return s;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 14000;
  double sum = 0;
  for (int i = 0; i < ITEMS; i++) price[i] = 1 + i % 90;
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < ITEMS; i++) {
      sum += bundle(i);
      for (int k = 0; k < 1; k++) sum -= discount(price[i] + k);
    }
  printf("checksum %.8e\n", sum);
  return 0;
}
