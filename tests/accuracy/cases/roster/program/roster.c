#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEOPLE 9000

static char name[PEOPLE][12];
static int visits[PEOPLE];
static int known;

static int place_of(const char *key) {
  for (int i = 0; i < known; i++)
    if (strcmp(name[i], key) == 0) return i;
  strcpy(name[known], key);
  return known++;
}

int main(int argc, char **argv) {
  int events = argc > 1 ? atoi(argv[1]) : 90000;
  unsigned s = 7;
  char key[12];
  for (int e = 0; e < events; e++) {
    s = s * 1103515245u + 12345u;
    snprintf(key, sizeof key, "p%06u", (s >> 8) % PEOPLE);
    visits[place_of(key)]++;
  }
  unsigned long sum = 0;
  for (int i = 0; i < known; i++) sum += (unsigned long)visits[i] * (i + 1);
  printf("checksum %lu\n", sum);
  return 0;
}
