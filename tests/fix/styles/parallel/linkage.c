#include <stdio.h>
#include <stdlib.h>

typedef signed char allele;

typedef struct {
  int markers, people;
  allele *g;
  double *mean;
} Panel;

static unsigned next_word(unsigned *s) {
  *s = *s * 1664525u + 1013904223u;
  return *s >> 8;
}

static Panel panel_new(int markers, int people) {
  Panel p = {markers, people, NULL, NULL};
  unsigned s = 77u;
  p.g = malloc((size_t)markers * people);
  p.mean = calloc(markers, sizeof(double));
  for (int i = 0; i < markers; i++) {
    int sum = 0;
    for (int k = 0; k < people; k++) {
      allele a = (allele)(next_word(&s) % 3);
      p.g[(size_t)i * people + k] = a;
      sum += a;
    }
    p.mean[i] = (double)sum / people;
  }
  return p;
}

static double corr(const Panel *p, int a, int b) {
  const allele *x = p->g + (size_t)a * p->people;
  const allele *y = p->g + (size_t)b * p->people;
  double sxy = 0.0, sxx = 1e-9, syy = 1e-9;
  for (int k = 0; k < p->people; k++) {
    double dx = x[k] - p->mean[a], dy = y[k] - p->mean[b];
    sxy += dx * dy;
    sxx += dx * dx;
    syy += dy * dy;
  }
  return sxy * sxy / (sxx * syy);
}

static void scan(const Panel *p, double *score) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < p->markers; i++) {
    double s = 0.0;
    for (int j = i + 1; j < p->markers; j++) s += corr(p, i, j);
    score[i] = s;
  }
}

int main(int argc, char **argv) {
  int markers = argc > 1 ? atoi(argv[1]) : 3000;
  int people = argc > 2 ? atoi(argv[2]) : 400;
  Panel p = panel_new(markers, people);
  double *score = malloc(sizeof(double) * markers), total = 0.0;
  scan(&p, score);
  for (int i = 0; i < markers; i++) total += score[i] * (1 + i % 3);
  printf("checksum %.8e\n", total);
  free(score);
  free(p.g);
  free(p.mean);
  return 0;
}
