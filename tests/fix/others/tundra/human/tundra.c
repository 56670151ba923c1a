#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STRIP 32

typedef struct {
  int east, north, deep;
  size_t row, sheet;
  double *temp;
  double *water;
} Soil;

static unsigned int lot = 1u;

static double draw(void) {
  lot = lot * 1664525u + 1013904223u;
  return (lot >> 8) / 16777216.0;
}

static void soil_make(Soil *s, int east, int north, int deep) {
  size_t all = (size_t)east * north * deep;
  s->east = east;
  s->north = north;
  s->deep = deep;
  s->row = east;
  s->sheet = (size_t)east * north;
  s->temp = malloc(all * sizeof *s->temp);
  s->water = malloc(all * sizeof *s->water);
  for (size_t k = 0; k < all; k++) {
    s->temp[k] = -4.0 + 3.0 * draw() + 0.05 * (double)(k / s->sheet);
    s->water[k] = 0.1 + 0.3 * draw();
  }
}

static double air(double season, int x, int y, int day) {
  return season + 0.01 * (x - y) + ((x * 5 + y * 3 + day) % 7) * 0.4;
}

static double conducts(double water, double temp) { return 0.05 + 0.9 * water * (temp < 0.0 ? 1.6 : 1.0); }

static void strip_day(const Soil *s, int x, int y, int n, double season, int number, double *lead, double *given) {
  double *t = s->temp + y * s->row + x;
  const double *w = s->water + y * s->row + x;
  double g0[STRIP], pl[STRIP], pg[STRIP];
  for (int i = 0; i < n; i++) {
    g0[i] = 2.0 * conducts(w[i], t[i]);
    pl[i] = 0.0;
    pg[i] = air(season, x + i, y, number);
  }
  for (int z = 0; z < s->deep; z++, t += s->sheet, w += s->sheet) {
    const double *u = t + s->sheet, *v = w + s->sheet;
    for (int i = 0; i < n; i++) {
      double g1 = z + 1 < s->deep ? conducts(0.5 * (w[i] + v[i]), 0.5 * (t[i] + u[i])) : 0.0;
      double pivot = 1.0 + g0[i] + g1 + g0[i] * pl[i];
      pg[i] = given[z * STRIP + i] = (t[i] + g0[i] * pg[i]) / pivot;
      pl[i] = lead[z * STRIP + i] = -g1 / pivot;
      g0[i] = g1;
    }
  }
  for (int z = s->deep - 1; z >= 0; z--) {
    t -= s->sheet;
    for (int i = 0; i < n; i++)
      pg[i] = t[i] = z + 1 < s->deep ? given[z * STRIP + i] - lead[z * STRIP + i] * pg[i] : given[z * STRIP + i];
  }
}

static void day(Soil *s, int number, double *lead, double *given) {
  double season = -6.0 + 17.0 * sin(0.0172 * number);
  for (int y = 0; y < s->north; y++)
    for (int x = 0; x < s->east; x += STRIP)
      strip_day(s, x, y, s->east - x < STRIP ? s->east - x : STRIP, season, number, lead, given);
}

static void thawed(const Soil *s, int number) {
  for (int z = 0; z < s->deep; z += 1 + s->deep / 6) {
    const double *t = s->temp + z * s->sheet;
    double sum = 0.0;
    int warm = 0;
    for (size_t k = 0; k < s->sheet; k++) {
      sum += t[k];
      warm += t[k] > 0.0;
    }
    printf("day %d sheet %d mean %.10f warm %d\n", number, z, sum / (double)s->sheet, warm);
  }
}

int main(int argc, char **argv) {
  Soil s;
  int days = argc > 4 ? atoi(argv[4]) : 30;
  int deep = argc > 3 ? atoi(argv[3]) : 30;
  lot = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 1u;
  soil_make(&s, argc > 1 ? atoi(argv[1]) : 320, argc > 2 ? atoi(argv[2]) : 300, deep);
  double *lead = malloc(deep * STRIP * sizeof *lead), *given = malloc(deep * STRIP * sizeof *given);
  for (int d = 0; d < days; d++) day(&s, d, lead, given);
  thawed(&s, days);
  double sum = 0.0;
  for (size_t k = 0; k < s.sheet * deep; k++) sum += s.temp[k] * (1.0 + 0.001 * (k % 101));
  printf("checksum %.12e\n", sum);
  free(lead);
  free(given);
  free(s.temp);
  free(s.water);
  return 0;
}
