#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SIZE (24u << 20)

static unsigned long render(int frame) {
  unsigned long sum = 0;
  static unsigned char *canvas;
  if (!canvas) canvas = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(canvas, SIZE, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < SIZE; i += 1024) {
    canvas[i] = (unsigned char)(i / 1024 + frame);
    sum += canvas[i];
  }
  return sum;
}

int main(int argc, char **argv) {
  int frames = argc > 1 ? atoi(argv[1]) : 220;
  unsigned long sum = 0;
  for (int f = 0; f < frames; f++) sum += render(f);
  printf("checksum %lu\n", sum);
  return 0;
}
