#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int upper_vowels(char *line) {
  int count = 0;
  for (size_t i = 0, n = strlen(line); i < n; i++) {
    if (strchr("aeiou", line[i])) {
      line[i] = toupper((unsigned char)line[i]);
      count++;
    }
  }
  return count;
}

int main(int argc, char **argv) {
  int passes = argc > 1 ? atoi(argv[1]) : 16;
  size_t length = 90000;
  char *line = malloc(length + 1);
  unsigned long sum = 0;
  for (int p = 0; p < passes; p++) {
    for (size_t i = 0; i < length; i++) line[i] = 'a' + (i * 31 + p) % 26;
    line[length] = 0;
    sum += upper_vowels(line);
  }
  printf("checksum %lu\n", sum);
  free(line);
  return 0;
}
