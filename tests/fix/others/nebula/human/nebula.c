#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lines.h"

#define LOW 600.0
#define HIGH 900.0
#define REACH 12.0

static Line *lines;
static int nlines;

static double random_unit(uint64_t *s) {
  *s ^= *s >> 12;
  *s ^= *s << 25;
  *s ^= *s >> 27;
  return (double)((*s * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

static int by_centre(const void *a, const void *b) {
  double x = ((const Line *)a)->centre, y = ((const Line *)b)->centre;
  return (x > y) - (x < y);
}

static void catalogue(int count, uint64_t seed) {
  uint64_t s = seed * 7046029254386353131ULL + 1181783497276652981ULL;
  nlines = count;
  lines = malloc(sizeof(Line) * (size_t)count);
  for (Line *l = lines; l < lines + count; l++) {
    l->centre = LOW + (HIGH - LOW) * random_unit(&s);
    l->strength = 0.5 * pow(10.0, -3.0 * random_unit(&s));
    l->level = 1500.0 * random_unit(&s);
    l->broad = 0.05 + 0.05 * random_unit(&s);
    l->slope = 0.5 + 0.4 * random_unit(&s);
  }
  qsort(lines, (size_t)count, sizeof(Line), by_centre);
}

static int first_from(double nu) {
  int lo = 0, hi = nlines;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (lines[mid].centre < nu) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

typedef struct {
  double amount, width;
} Shape;

static void prepare(const Layer *a, Shape *shape) {
  for (int i = 0; i < nlines; i++) {
    shape[i].amount = intensity(&lines[i], a);
    shape[i].width = half_width(&lines[i], a);
  }
}

static void absorb(const Layer *a, double *dark, int channels) {
  double step = (HIGH - LOW) / channels;
  Shape *shape = malloc(sizeof(Shape) * (size_t)nlines);
  prepare(a, shape);
#pragma omp parallel for schedule(dynamic, 16)
  for (int c = 0; c < channels; c++) {
    double nu = LOW + (c + 0.5) * step, k = 0.0;
    for (int i = first_from(nu - REACH); i < nlines && lines[i].centre <= nu + REACH; i++) {
      double off = nu - lines[i].centre, w = shape[i].width;
      k += shape[i].amount * w / (3.14159265358979 * (off * off + w * w));
    }
    dark[c] += k * a->depth;
  }
  free(shape);
}

int main(int argc, char **argv) {
  int channels = argc > 1 ? atoi(argv[1]) : 12000;
  int layers = argc > 3 ? atoi(argv[3]) : 9;
  double *dark = calloc((size_t)channels, sizeof(double)), flux = 0.0, thick = 0.0;
  catalogue(argc > 2 ? atoi(argv[2]) : 6000, argc > 4 ? strtoull(argv[4], NULL, 10) : 8);
  for (int k = 0; k < layers; k++) {
    Layer a = {290.0 - 8.5 * k, exp(-0.35 * k), 2.0 + 0.3 * k};
    absorb(&a, dark, channels);
  }
  for (int c = 0; c < channels; c++) {
    flux += exp(-dark[c]);
    thick += dark[c] * (1.0 + c % 3);
  }
  printf("checksum %.10e %.10e\n", flux / channels, thick);
  free(dark);
  free(lines);
  return 0;
}
