#include <stdio.h>
#include <stdlib.h>

#define AT(g, r, c) ((g)->cell[(size_t)(r) * (g)->cols + (c)])

typedef struct {
  unsigned rows, cols;
  float *cell;
} Grid;

static Grid *grid_new(unsigned rows, unsigned cols) {
  Grid *g = malloc(sizeof *g);
  g->rows = rows;
  g->cols = cols;
  g->cell = calloc((size_t)rows * cols, sizeof *g->cell);
  return g;
}

static void grid_free(Grid *g) {
  free(g->cell);
  free(g);
}

static void storm(Grid *g, unsigned seed) {
  size_t total = (size_t)g->rows * g->cols;
  unsigned x = seed * 2654435761u + 1u;
  for (size_t i = 0; i < total; i++) {
    x = x * 1664525u + 1013904223u;
    g->cell[i] = (float)(x >> 20) * 0.01f;
  }
}

static void soak(Grid *soil, const Grid *fall, float keep) {
  for (unsigned c = 0; c < soil->cols; c++)
    for (unsigned r = 0; r < soil->rows; r++) {
      float w = AT(soil, r, c) * keep + AT(fall, r, c);
      AT(soil, r, c) = w > 60.0f ? 60.0f : w;
    }
}

static double runoff(const Grid *soil) {
  double s = 0.0;
  for (unsigned r = 0; r < soil->rows; r++) {
    double line = 0.0;
    for (unsigned c = 0; c < soil->cols; c++)
      if (AT(soil, r, c) >= 60.0f) line += 1.0;
      else line += AT(soil, r, c) / 600.0;
    s += line;
  }
  return s;
}

int main(int argc, char **argv) {
  unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 3000;
  int days = argc > 2 ? atoi(argv[2]) : 20;
  Grid *soil = grid_new(n, n + 40);
  Grid *fall = grid_new(n, n + 40);
  double total = 0.0;
  for (int d = 0; d < days; d++) {
    storm(fall, (unsigned)d + 11u);
    soak(soil, fall, 0.83f);
    total += runoff(soil);
  }
  printf("checksum %.7e\n", total);
  grid_free(soil);
  grid_free(fall);
  return 0;
}
