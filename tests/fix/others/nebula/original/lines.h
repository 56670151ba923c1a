#ifndef LINES_H
#define LINES_H

#include <math.h>

typedef struct {
  double centre, strength, level, broad, slope;
} Line;

typedef struct {
  double heat, press, depth;
} Layer;

static inline double intensity(const Line *l, const Layer *a) {
  double occupied = exp(-1.4388 * l->level / a->heat) * (1.0 - exp(-1.4388 * l->centre / a->heat));
  return l->strength * occupied * pow(296.0 / a->heat, 1.5);
}

static inline double half_width(const Line *l, const Layer *a) {
  return l->broad * a->press * pow(296.0 / a->heat, l->slope) + 1e-3;
}

#endif
