#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KINDS 48

struct entry {
  long stems;
  long biomass;
  int tallest;
};

struct survey {
  int plots, plants, crew;
  uint64_t seed;
  struct entry table[KINDS];
  pthread_mutex_t door;
};

struct walker {
  struct survey *survey;
  int index;
  pthread_t thread;
};

static uint32_t turn(uint64_t *s) {
  *s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
  return (uint32_t)(*s >> 33);
}

static int which(uint32_t r, int wet) {
  uint32_t a = r % 7, b = (r >> 8) % 8;
  return (int)((a * b + (uint32_t)wet) % KINDS);
}

static long dry_mass(int height, int girth) {
  long v = (long)girth * girth * height / 64;
  return v - v / 9 + 3;
}

static void note(struct survey *sv, int kind, int height, long mass) {
  struct entry *e = &sv->table[kind];
  pthread_mutex_lock(&sv->door);
  e->stems++;
  e->biomass += mass;
  if (height > e->tallest) e->tallest = height;
  pthread_mutex_unlock(&sv->door);
}

static void count_plot(struct survey *sv, int plot) {
  uint64_t s = sv->seed * 1099511628211ULL + (uint64_t)plot * 104729u;
  int wet = (int)(turn(&s) % 11);
  for (int p = 0; p < sv->plants; p++) {
    int kind = which(turn(&s), wet);
    int height = 20 + (int)(turn(&s) % (uint32_t)(150 + 40 * kind));
    int girth = 2 + height / 12 + (int)(turn(&s) % 5);
    note(sv, kind, height, dry_mass(height, girth));
  }
}

static void *walk(void *arg) {
  struct walker *w = arg;
  for (int plot = w->index; plot < w->survey->plots; plot += w->survey->crew) count_plot(w->survey, plot);
  return NULL;
}

static double diversity(const struct survey *sv) {
  double all = 0.0, h = 0.0;
  for (int k = 0; k < KINDS; k++) all += (double)sv->table[k].stems;
  for (int k = 0; k < KINDS; k++)
    if (sv->table[k].stems) {
      double q = (double)sv->table[k].stems / all;
      h -= q * log(q);
    }
  return h;
}

int main(int argc, char **argv) {
  static struct survey sv = {.plots = 2200, .plants = 9000, .crew = 2, .seed = 4, .door = PTHREAD_MUTEX_INITIALIZER};
  if (argc > 1) sv.crew = atoi(argv[1]);
  if (argc > 2) sv.plots = atoi(argv[2]);
  if (argc > 3) sv.plants = atoi(argv[3]);
  if (argc > 4) sv.seed = strtoull(argv[4], NULL, 10);
  struct walker *crew = calloc((size_t)sv.crew, sizeof *crew);
  for (int i = 0; i < sv.crew; i++) {
    crew[i].survey = &sv;
    crew[i].index = i;
    pthread_create(&crew[i].thread, NULL, walk, &crew[i]);
  }
  for (int i = 0; i < sv.crew; i++) pthread_join(crew[i].thread, NULL);
  double mass = 0.0, tall = 0.0;
  for (int k = 0; k < KINDS; k++) {
    mass += (double)sv.table[k].biomass * (1.0 + 0.01 * k);
    tall += (double)sv.table[k].tallest * (1.0 + 0.1 * k);
  }
  printf("checksum %.10e %.10e %.10e\n", diversity(&sv), mass, tall);
  free(crew);
  return 0;
}
