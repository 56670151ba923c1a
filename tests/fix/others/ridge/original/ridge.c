#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  float base, step;
} Lead;

typedef struct {
  int fd, rows, cols;
} Map;

typedef struct {
  long seen, looked;
  double farthest, area, loss;
} View;

static void stop(const char *why) {
  perror(why);
  exit(1);
}

static double relief(int r, int c) {
  double h = 0.0, rough = 1.0, f = 0.017;
  for (int k = 0; k < 5; k++) {
    h += rough * sin(f * c + 1.2 * cos(1.3 * f * r + k));
    rough *= 0.45;
    f *= 2.1;
  }
  return h;
}

static void survey(const char *path, int rows, int cols, unsigned seed) {
  FILE *f = fopen(path, "wb");
  uint16_t *line = malloc(cols * sizeof *line);
  unsigned noise = seed * 2654435761u + 97u;
  if (!f || !line) stop(path);
  for (int r = 0; r < rows; r++) {
    Lead lead = {300.0f + 40.0f * sinf(0.011f * r), 0.02f + 0.0001f * (r % 11)};
    for (int c = 0; c < cols; c++) {
      noise = noise * 1103515245u + 12345u;
      line[c] = (uint16_t)(9000.0 + 3500.0 * relief(r, c) + (noise >> 16) % 1200);
    }
    if (fwrite(&lead, sizeof lead, 1, f) != 1 || fwrite(line, sizeof *line, cols, f) != (size_t)cols) stop(path);
  }
  if (fclose(f)) stop(path);
  free(line);
}

static Map map_open(const char *path, int rows, int cols) {
  Map m = {open(path, O_RDONLY), rows, cols};
  if (m.fd < 0) stop(path);
  return m;
}

static void map_close(Map *m) { close(m->fd); }

static double height(Map *m, int r, int c) {
  Lead lead;
  uint16_t raw;
  off_t row = (off_t)r * (sizeof lead + m->cols * sizeof raw);
  if (pread(m->fd, &lead, sizeof lead, row) != sizeof lead) stop("row");
  if (pread(m->fd, &raw, sizeof raw, row + sizeof lead + c * sizeof raw) != sizeof raw) stop("cell");
  return lead.base + lead.step * raw;
}

static void look(Map *m, double r, double c, double eye, double angle, int range, View *v) {
  double dr = sin(angle), dc = cos(angle), steepest = -10.0;
  for (int d = 1; d <= range; d++) {
    int i = (int)floor(r + d * dr + 0.5), j = (int)floor(c + d * dc + 0.5);
    if (i < 0 || j < 0 || i >= m->rows || j >= m->cols) break;
    double up = (height(m, i, j) - eye) / d;
    v->looked++;
    v->loss += log1p(d * fabs(up - steepest));
    if (up < steepest) continue;
    steepest = up;
    v->seen++;
    v->area += d;
    if (d > v->farthest) v->farthest = d;
  }
}

int main(int argc, char **argv) {
  const char *path = "heights.tmp";
  int rows = argc > 1 ? atoi(argv[1]) : 700, cols = argc > 2 ? atoi(argv[2]) : 900;
  int towers = argc > 3 ? atoi(argv[3]) : 12;
  survey(path, rows, cols, argc > 4 ? (unsigned)atoi(argv[4]) : 1u);
  Map m = map_open(path, rows, cols);
  double sum = 0.0;
  for (int t = 0; t < towers; t++) {
    int r = (int)((t * 0.618 - floor(t * 0.618)) * rows), c = (t * 37 + cols / 2) % cols;
    double eye = height(&m, r, c) + 15.0;
    View v = {0, 0, 0.0, 0.0, 0.0};
    for (int k = 0; k < 360; k++) look(&m, r, c, eye, k * 0.017453292519943295, 400, &v);
    printf("tower %d at %d %d sees %ld of %ld farthest %.0f\n", t, r, c, v.seen, v.looked, v.farthest);
    sum += eye + v.area + v.loss;
  }
  map_close(&m);
  unlink(path);
  printf("checksum %.10e\n", sum);
  return 0;
}
