#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *text;

static text compose(int n, unsigned seed)
{
  static const char alphabet[] = "the quick brown fox jumps over a lazy dog, and then some";
  text t = malloc((size_t)n + 1);
  unsigned s = seed;
  int i;
  for (i = 0; i < n; i++) {
    s = s * 214013u + 2531011u;
    t[i] = alphabet[(s >> 16) % (sizeof alphabet - 1)];
  }
  t[n] = '\0';
  return t;
}

static char rotate(char c, int by)
{
  if (!islower((unsigned char)c))
    return c;
  return (char)('a' + (c - 'a' + by) % 26);
}

static void encode(text t, const char *key)
{
  size_t i;
  size_t k = 0;
  for (i = 0; i < strlen(t); i++) {
    t[i] = rotate(t[i], key[k] - 'a');
    if (key[++k] == '\0')
      k = 0;
  }
}

static unsigned long digest(const char *t)
{
  unsigned long a = 1, b = 0;
  for (; *t; t++) {
    a = (a + (unsigned char)*t) % 65521ul;
    b = (b + a) % 65521ul;
  }
  return b << 16 | a;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 150000;
  int rounds = argc > 2 ? atoi(argv[2]) : 8;
  const char *keys[3] = {"lemon", "harbour", "quartz"};
  unsigned long acc = 0;
  int r;
  text t = compose(n, 99u);
  for (r = 0; r < rounds; r++) {
    encode(t, keys[r % 3]);
    acc = (acc + digest(t) * (unsigned long)(r + 1)) & 0xfffffffful;
  }
  printf("checksum %lu\n", acc);
  free(t);
  return 0;
}
