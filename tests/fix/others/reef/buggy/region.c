#include "reef.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE 5

uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

static int begin_of(const Region *g, int r) { return (int)((long long)g->total * r / g->size); }

int owner(const Region *g, int id) {
  int r = (int)((long long)id * g->size / g->total);
  while (id < begin_of(g, r)) r--;
  while (id >= begin_of(g, r + 1)) r++;
  return r;
}

int origin(const Region *g, uint64_t seed, int id, int k) {
  uint64_t h = scramble(seed * 1000003u + (uint64_t)id * DEGREE + k + 1);
  if (k == 0 && h % 3 == 0) return (int)((h >> 8) % g->total);
  return (int)((id + g->total - 4 + (h >> 8) % 9) % g->total);
}

static void mark(const Region *g, uint64_t seed, int r, char *used) {
  memset(used, 0, g->total);
  for (int id = begin_of(g, r); id < begin_of(g, r + 1); id++)
    for (int k = 0; k < DEGREE; k++) {
      int o = origin(g, seed, id, k);
      if (owner(g, o) != r) used[o] = 1;
    }
}

void region_build(Region *g, int total, uint64_t seed) {
  g->total = total;
  g->first = begin_of(g, g->rank);
  g->mine = begin_of(g, g->rank + 1) - g->first;
  char *used = malloc(total);
  int *slot = malloc(sizeof(int) * total);
  g->foreign = malloc(sizeof(int) * total);
  g->local = malloc(sizeof(int) * (size_t)g->mine * g->size);
  g->target = malloc(sizeof(int) * (size_t)g->mine * g->size);
  g->outside = g->lent = 0;
  mark(g, seed, g->rank, used);
  for (int id = 0; id < total; id++)
    if (used[id]) {
      slot[id] = g->mine + g->outside;
      g->foreign[g->outside++] = id;
    }
  for (int r = 0; r < g->size; r++) {
    if (r == g->rank) continue;
    mark(g, seed, r, used);
    for (int i = 0; i < g->mine; i++)
      if (used[g->first + i]) {
        g->local[g->lent] = i;
        g->target[g->lent++] = r;
      }
  }
  g->start = malloc(sizeof(int) * (g->mine + 1));
  g->source = malloc(sizeof(int) * (size_t)g->mine * DEGREE + 1);
  for (int i = 0; i < g->mine; i++) {
    g->start[i] = i * DEGREE;
    for (int k = 0; k < DEGREE; k++) {
      int o = origin(g, seed, g->first + i, k);
      g->source[i * DEGREE + k] = owner(g, o) == g->rank ? o - g->first : slot[o];
    }
  }
  g->start[g->mine] = g->mine * DEGREE;
  g->young = calloc(g->mine + g->outside + 1, sizeof(double));
  g->adult = calloc(g->mine + 1, sizeof(double));
  g->food = calloc(g->mine + 1, sizeof(double));
  free(used);
  free(slot);
}

static double *parcel;
static MPI_Request *calls;

void pack(Region *g) {
  if (!parcel) {
    parcel = malloc(sizeof(double) * (g->lent + 1));
    calls = malloc(sizeof(MPI_Request) * 2 * g->size);
  }
  for (int k = 0; k < g->lent; k++) parcel[k] = g->young[g->local[k]];
}

void exchange(Region *g) {
  int n = 0;
  for (int k = 0, next; k < g->outside; k = next) {
    int r = owner(g, g->foreign[k]);
    for (next = k + 1; next < g->outside && g->foreign[next] < begin_of(g, r + 1);) next++;
    MPI_Irecv(&g->young[g->mine + k], next - k, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &calls[n++]);
  }
  for (int k = 0, next; k < g->lent; k = next) {
    for (next = k + 1; next < g->lent && g->target[next] == g->target[k];) next++;
    MPI_Isend(&parcel[k], next - k, MPI_DOUBLE, g->target[k], 0, MPI_COMM_WORLD, &calls[n++]);
  }
  MPI_Waitall(n, calls, MPI_STATUSES_IGNORE);
}
