#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  uint32_t id;
  float x, y, e;
} Sample;

typedef struct {
  int fd;
  long n;
  int used;
  Sample buf[4096];
} Sink;

static void sink_open(Sink *s, const char *path) {
  s->fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
  s->n = 0;
  s->used = 0;
  if (s->fd < 0) exit(1);
}

static void sink_flush(Sink *s) {
  ssize_t n = s->used * sizeof(Sample);
  if (write(s->fd, s->buf, n) != n) exit(1);
  s->used = 0;
}

static void sink_put(Sink *s, const Sample *v) {
  s->buf[s->used++] = *v;
  s->n++;
  if (s->used == 4096) sink_flush(s);
}

static void sink_close(Sink *s) {
  sink_flush(s);
  close(s->fd);
}

static Sample trace_step(uint32_t *seed, Sample prev) {
  *seed = *seed * 1664525u + 1013904223u;
  Sample s = prev;
  float d = (float)(*seed >> 8) / (1 << 24) - 0.5f;
  s.id++;
  s.x += d;
  s.y += 0.5f * d * d - 0.04f;
  for (int k = 0; k < 25; k++) s.e = 0.9f * s.e + 0.1f * sqrtf(s.x * s.x + s.y * s.y + k);
  return s;
}

static uint64_t verify(const char *path) {
  FILE *f = fopen(path, "rb");
  Sample s;
  uint64_t h = 17;
  while (fread(&s, sizeof s, 1, f) == 1) h = h * 31 + s.id + (uint64_t)(int64_t)(s.x * 16.0f);
  fclose(f);
  return h;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3000000;
  const char *path = "samples.tmp";
  uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5u;
  Sample s = {0, 0.0f, 0.0f, 1.0f};
  static Sink sink;
  sink_open(&sink, path);
  for (int i = 0; i < n; i++) {
    s = trace_step(&seed, s);
    sink_put(&sink, &s);
  }
  sink_close(&sink);
  printf("checksum %lu %ld\n", (unsigned long)verify(path), sink.n);
  unlink(path);
  return 0;
}
