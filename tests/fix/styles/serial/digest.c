#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *crops[] = {"barley", "oats", "rye", "wheat", "maize", "millet"};

struct plot {
  int id;
  int crop;
  int yield;
};

static void sow(struct plot *p, int n, int season)
{
  int i;
  unsigned s = 7u + (unsigned)season;
  for (i = 0; i < n; i++) {
    s = s * 1103515245u + 12345u;
    p[i].id = i;
    p[i].crop = (int)((s >> 16) % 6u);
    p[i].yield = (int)((s >> 8) % 900u) + 100;
  }
}

static void describe(char *buf, const struct plot *p)
{
  sprintf(buf, "%d:%s=%d;", p->id, crops[p->crop], p->yield);
}

static char *summary(const struct plot *p, int n)
{
  char word[48];
  char *text = malloc((size_t)n * sizeof word + 1);
  int i;
  text[0] = '\0';
  for (i = 0; i < n; i++) {
    describe(word, p + i);
    strcat(text, word);
  }
  return text;
}

static unsigned long hash(const char *t)
{
  unsigned long h = 2166136261ul;
  while (*t) {
    h ^= (unsigned char)*t++;
    h = (h * 16777619ul) & 0xfffffffful;
  }
  return h;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  int seasons = argc > 2 ? atoi(argv[2]) : 10;
  struct plot *field = malloc(n * sizeof *field);
  unsigned long acc = 0;
  int s;
  for (s = 0; s < seasons; s++) {
    char *text;
    sow(field, n, s);
    text = summary(field, n);
    acc = (acc * 31ul + hash(text)) & 0xfffffffful;
    free(text);
  }
  printf("checksum %lu\n", acc);
  free(field);
  return 0;
}
