#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEOPLE 9000

static char name[PEOPLE][12];
static int visits[PEOPLE];
static int known;

static int table[32768];

static int place_of(const char *key) {
  unsigned h = 2166136261u;
  for (const char *c = key; *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
  h &= 32767;
  while (table[h] && strcmp(name[table[h] - 1], key)) h = (h + 1) & 32767;
  if (!table[h]) {
    strcpy(name[known], key);
    table[h] = ++known;
  }
  return table[h] - 1;
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
