#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>

typedef struct signal {
  size_t n;
  float *amp;
} signal_t;

static void pulse(signal_t *s, size_t n)
{
  size_t i;
  s->n = n;
  s->amp = malloc(n * sizeof(float));
  for (i = 0; i < n; i++)
    s->amp[i] = (float)((i * 37) % 211) / 211.0f - 0.5f;
}

static void reflect(signal_t *s, size_t lag, float gain)
{
  float *tmp = malloc(s->n * sizeof(float));
  float *src = s->amp;
  size_t i = 0;
  while (i < lag) {
    tmp[i] = src[i];
    i++;
  }
  while (i < s->n) {
    tmp[i] = src[i] + gain * src[i - lag];
    i++;
  }
  for (i = 0; i < s->n; i++)
    src[i] = 0.9f * tmp[i];
  free(tmp);
}

static double power(const signal_t *s)
{
  double p = 0.0;
  const float *a = s->amp, *e = s->amp + s->n;
  for (; a < e; a += 16)
    p += (double)*a * *a;
  return p;
}

int main(int argc, char **argv)
{
  size_t n = argc > 1 ? (size_t)atol(argv[1]) : 12000000;
  int walls = argc > 2 ? atoi(argv[2]) : 90;
  signal_t s;
  double sum = 0.0;
  int w;
  pulse(&s, n);
  for (w = 0; w < walls; w++) {
    reflect(&s, (size_t)(50 + 13 * w), 0.15f);
    sum += power(&s);
  }
  printf("checksum %.6e\n", sum);
  free(s.amp);
  return 0;
}
