#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CELLS (4 << 20)

static int *map;

static void load(void) {
  int file = open("atlas.tmp", O_RDONLY);
  size_t got = 0;
  while (got < CELLS * sizeof *map) got += read(file, (char *)map + got, CELLS * sizeof *map - got);
  close(file);
}

static long lookup(int year) {
  long sum = 0;
  load();
  for (int i = year % 64; i < CELLS; i += 64) sum += map[i];
  return sum;
}

int main(int argc, char **argv) {
  int years = argc > 1 ? atoi(argv[1]) : 350;
  long sum = 0;
  map = malloc(CELLS * sizeof *map);
  for (int i = 0; i < CELLS; i++) map[i] = i % 1013;
  int file = open("atlas.tmp", O_CREAT | O_TRUNC | O_WRONLY, 0600);
  write(file, map, CELLS * sizeof *map);
  close(file);
  for (int y = 0; y < years; y++) sum += lookup(y);
  unlink("atlas.tmp");
  printf("checksum %ld\n", sum);
  return 0;
}
