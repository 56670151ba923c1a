#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int w, h;
  uint8_t *pix;
} Image;

static void synth(Image *im, int t) {
  for (int y = 0; y < im->h; y++)
    for (int x = 0; x < im->w; x++) im->pix[(size_t)y * im->w + x] = (uint8_t)((x * 3 + y * 5 + t * 7) ^ (x >> 3));
}

static uint64_t edges(const Image *im, int stride) {
  size_t n = (size_t)im->w * im->h;
  static int32_t *acc;
  uint64_t s = 0;
  if (!acc) {
    acc = malloc(n * sizeof *acc);
    for (size_t k = 0; k < n; k++) acc[k] = im->pix[k] << 4;
  }
  for (size_t k = stride; k + stride < n; k += stride) s += (uint64_t)abs(acc[k + stride] - acc[k - stride]);
  return s;
}

static uint64_t levels(const Image *im) {
  uint32_t h[256];
  uint64_t s = 0;
  memset(h, 0, sizeof h);
  for (size_t k = 0; k < (size_t)im->w * im->h; k += 5) h[im->pix[k]]++;
  for (int i = 0; i < 256; i++) s += (uint64_t)h[i] * i;
  return s;
}

int main(int argc, char **argv) {
  Image im;
  int frames = argc > 1 ? atoi(argv[1]) : 80;
  unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0u;
  uint64_t s = 0;
  im.w = argc > 2 ? atoi(argv[2]) : 4096;
  im.h = im.w * 3 / 4;
  im.pix = malloc((size_t)im.w * im.h);
  for (int t = 0; t < frames; t++) {
    if (t % 16 == 0) synth(&im, t + (int)(seed % 1000));
    for (int r = 0; r < 3; r++) s += edges(&im, 16 + r);
    s ^= levels(&im);
  }
  printf("checksum %lu\n", (unsigned long)s);
  return 0;
}
