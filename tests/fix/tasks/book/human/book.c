#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  int id;
  double price;
  long volume;
} Trade;

static FILE *out;

static Trade next_trade(int i, double *level) {
  unsigned h = (unsigned)i * 2654435761u;
  *level = 0.999 * *level + 0.001 * (90.0 + (h >> 24) * 0.1);
  Trade t = {i, *level + ((h >> 8) & 15) * 0.01, 1 + (h & 127)};
  return t;
}

static void commit(const Trade *t) {
  fprintf(out, "%d %.4f %ld\n", t->id, t->price, t->volume);
  if (t->id % 1000 == 999) {
    fflush(out);
    fdatasync(fileno(out));
  }
}

static double average(const double *w, int n) {
  double s = 0.0, f = 1.0;
  for (int k = 0; k < n; k++) {
    s += f * w[k];
    f *= 0.999;
  }
  return s / n;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  double level = 100.0, window[2048] = {0}, s = 0.0;
  out = fopen("trades.txt", "w");
  if (!out) return 1;
  for (int i = 0; i < n; i++) {
    Trade t = next_trade(i, &level);
    commit(&t);
    window[i % 2048] = t.price * t.volume;
    if (i % 8 == 0) s += average(window, 2048);
  }
  fclose(out);
  printf("checksum %.10e\n", s);
  return 0;
}
