#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 220000

static char text[WORDS * 8];

static void compose(void) {
  unsigned s = 12345;
  for (int i = 0; i < WORDS; i++) {
    for (int k = 0; k < 7; k++) {
      s = s * 1664525u + 1013904223u;
      text[i * 8 + k] = 'a' + (s >> 24) % 26;
    }
    text[i * 8 + 7] = ' ';
  }
}

static unsigned long weigh(const char *word, int length) {
  unsigned long h = 5381;
  for (int i = 0; i < length; i++) h = h * 33 + word[i];
  return h;
}

static unsigned long split_words(int pass) {
  unsigned long sum = 0;
  for (int i = 0; i < WORDS; i++) {
    char *parts[4];
    for (int k = 0; k < 4; k++) {
      parts[k] = malloc(2000 + 8 * (size_t)((i + k) % 7));
      parts[k][0] = text[i * 8 + k];
    }
    char *word = malloc(8);
    memcpy(word, text + i * 8, 7);
    sum += weigh(word, 7) + parts[pass % 4][0];
    free(word);
    for (int k = 3; k >= 0; k--) free(parts[(k + i) % 4]);
  }
  return sum;
}

int main(int argc, char **argv) {
  int passes = argc > 1 ? atoi(argv[1]) : 18;
  unsigned long sum = 0;
  compose();
  for (int p = 0; p < passes; p++) sum += split_words(p);
  printf("checksum %lu\n", sum);
  return 0;
}
