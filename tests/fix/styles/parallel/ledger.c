#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MONTHS 24

typedef struct account {
  double balance;
  double rate;
  double flow[MONTHS];
} account_t;

static account_t *open_accounts(unsigned n) {
  account_t *a = malloc(n * sizeof(account_t));
  unsigned i;
  int m;
  for (i = 0; i < n; i++) {
    a[i].balance = 1000.0 + (i % 900);
    a[i].rate = 0.01 + 0.0005 * (i % 60);
    for (m = 0; m < MONTHS; m++)
      a[i].flow[m] = 20.0 + (double)((i * 7u + (unsigned)m * 13u) % 50u);
  }
  return a;
}

static double present_value(const account_t *a, double shock) {
  double pv = 0.0;
  int m;
#pragma omp parallel for reduction(+ : pv)
  for (m = 0; m < MONTHS; m++)
    pv += a->flow[m] * exp(-(a->rate + shock) * (m + 1) / 12.0);
  return pv;
}

static double revalue(const account_t *a, unsigned n, double shock) {
  double sum = 0.0;
  unsigned i;
  for (i = 0; i < n; i++) {
    double pv = present_value(&a[i], shock);
    sum += pv > a[i].balance ? a[i].balance : pv;
  }
  return sum;
}

int main(int argc, char **argv) {
  unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 100000u;
  int scen = argc > 2 ? atoi(argv[2]) : 20;
  int s;
  double total = 0.0;
  account_t *a = open_accounts(n);
  for (s = 0; s < scen; s++) total += revalue(a, n, 0.002 * s);
  printf("checksum %.8e\n", total);
  free(a);
  return 0;
}
