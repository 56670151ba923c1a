#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static void column_day(const Soil *s, size_t at, double top, double *lead, double *given) {
  double *t = s->temp + at;
  const double *w = s->water + at;
  double g0 = 2.0 * conducts(w[0], t[0]), pl = 0.0, pg = top;
  for (int z = 0; z < s->deep; z++) {
    const double *u = t + s->sheet, *v = w + s->sheet;
    double g1 = z + 1 < s->deep ? conducts(0.5 * (*w + *v), 0.5 * (*t + *u)) : 0.0;
    double pivot = 1.0 + g0 + g1 + g0 * pl;
    pg = given[z] = (*t + g0 * pg) / pivot;
    pl = lead[z] = -g1 / pivot;
    g0 = g1;
    t += s->sheet;
    w += s->sheet;
  }
  for (int z = s->deep - 1; z >= 0; z--) {
    t -= s->sheet;
    pg = *t = z + 1 < s->deep ? given[z] - lead[z] * pg : given[z];
  }
}

static void day(Soil *s, int number, double *lead, double *given) {
  double season = -6.0 + 17.0 * sin(0.0172 * number);
  for (int x = 0; x < s->east; x++)
    for (int y = 0; y < s->north; y++) column_day(s, y * s->row + x, air(season, x, y, number), lead, given);
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
  double *lead = malloc(deep * sizeof *lead), *given = malloc(deep * sizeof *given);
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
