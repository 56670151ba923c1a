#ifndef REEF_H
#define REEF_H

#include <stdint.h>

typedef struct {
  int rank, size;
  int total, first, mine;
  int *start, *source;
  int outside, *foreign;
  int lent, *local, *target;
  double *young;
  double *adult, *food;
} Region;

uint64_t scramble(uint64_t x);
int owner(const Region *g, int id);
int origin(const Region *g, uint64_t seed, int id, int k);
void region_build(Region *g, int total, uint64_t seed);
void exchange(Region *g);

#endif
