#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  uint32_t tick;
  int16_t axis[3];
  uint16_t flags;
} Sample;

static Sample reading(uint32_t t) {
  Sample s;
  double a = 0.013 * t;
  s.tick = t;
  s.axis[0] = (int16_t)(900.0 * sin(a));
  s.axis[1] = (int16_t)(700.0 * sin(1.7 * a + 0.4));
  s.axis[2] = (int16_t)(300.0 * cos(0.3 * a));
  s.flags = (uint16_t)(t % 97 == 0);
  return s;
}

static int record(const char *name, uint32_t n) {
  int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (fd < 0) return -1;
  for (uint32_t t = 0; t < n; t++) {
    Sample s = reading(t);
    if (write(fd, &s, sizeof s) != (ssize_t)sizeof s) {
      close(fd);
      return -1;
    }
  }
  return close(fd);
}

static double replay(const char *name, uint32_t *marks) {
  static Sample block[4096];
  double energy = 0.0;
  size_t got;
  FILE *f = fopen(name, "rb");
  if (!f) return -1.0;
  while ((got = fread(block, sizeof block[0], 4096, f)) > 0)
    for (size_t i = 0; i < got; i++) {
      for (int k = 0; k < 3; k++)
        energy += (double)block[i].axis[k] * block[i].axis[k];
      *marks += block[i].flags;
    }
  fclose(f);
  return energy;
}

int main(int argc, char **argv) {
  uint32_t n = argc > 1 ? (uint32_t)atol(argv[1]) : 4000000u;
  const char *name = "trace.tmp";
  uint32_t marks = 0;
  if (record(name, n) != 0) {
    perror(name);
    return 1;
  }
  double e = replay(name, &marks);
  unlink(name);
  printf("checksum %.8e %u\n", e, (unsigned)marks);
  return 0;
}
