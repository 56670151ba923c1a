#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  char name[24];
  double ra, dec;
  double motion[2];
  double parallax;
  float mag;
  float colour;
  int class;
  int flags;
  double spectrum[8];
} Star;

typedef struct {
  Star *list;
  int n;
} Catalogue;

static void fill(Catalogue *c, int n) {
  c->n = n;
  c->list = malloc((size_t)n * sizeof(Star));
  for (int i = 0; i < n; i++) {
    Star *s = &c->list[i];
    snprintf(s->name, sizeof s->name, "HD%d", i);
    s->ra = fmod(i * 0.7548776662, 1.0) * 360.0;
    s->dec = fmod(i * 0.5698402910, 1.0) * 180.0 - 90.0;
    s->motion[0] = s->motion[1] = 0.001 * (i % 17);
    s->parallax = 0.01 + 0.0001 * (i % 100);
    s->mag = (float)(fmod(i * 0.6180339887, 1.0) * 14.0);
    s->colour = 0.1f * (i % 9);
    s->class = i % 7;
    s->flags = 0;
    for (int k = 0; k < 8; k++) s->spectrum[k] = 1.0 / (k + 1 + i % 5);
  }
}

static int brighter(const Catalogue *c, float limit) {
  int k = 0;
  for (int i = 0; i < c->n; i++)
    if (c->list[i].mag < limit) k++;
  return k;
}

static double luminosity_curve(const Catalogue *c, int bins) {
  double area = 0.0;
  int last = 0;
  for (int b = 1; b <= bins; b++) {
    int k = brighter(c, 14.0f * b / bins);
    area += 0.5 * (k + last) / c->n;
    last = k;
  }
  return area;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1500000;
  int bins = argc > 2 ? atoi(argv[2]) : 250;
  Catalogue c;
  fill(&c, n);
  double area = luminosity_curve(&c, bins);
  printf("checksum %.9e %s\n", area, c.list[n - 1].name);
  free(c.list);
  return 0;
}
