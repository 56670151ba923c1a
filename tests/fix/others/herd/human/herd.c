#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct animal {
  uint32_t tag, mother;
  int age;
  float mass, fat;
  float coat[3];
};

static struct animal *herd;
static int count, room;
static uint32_t tags;
static uint64_t state;

static double chance(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state >> 11) * (1.0 / 9007199254740992.0);
}

static struct animal *arrive(int age, uint32_t mother) {
  if (count == room) {
    room = room ? room + room / 2 : 256;
    herd = realloc(herd, room * sizeof *herd);
    if (!herd) exit(1);
  }
  struct animal *a = &herd[count++];
  a->tag = ++tags;
  a->mother = mother;
  a->age = age;
  a->mass = 20.0f + 9.0f * (age < 8 ? age : 8);
  a->fat = 0.2f;
  for (int k = 0; k < 3; k++) a->coat[k] = (float)chance();
  return a;
}

static void graze_week(double grass) {
  double each = grass / (count + 1.0);
  for (int k = 0; k < count; k++) {
    struct animal *a = &herd[k];
    double got = each * (0.6 + 0.8 * chance());
    a->fat += (float)(0.004 * (got - 0.03 * a->mass) / (1.0 + a->fat));
    if (a->fat < 0.0f) a->fat = 0.0f;
    if (a->fat > 0.8f) a->fat = 0.8f;
    if (a->age < 8) a->mass += 0.3f * a->fat;
  }
}

static int winter(double cold) {
  int kept = 0, lost;
  for (int k = 0; k < count; k++) {
    const struct animal *a = &herd[k];
    double risk = 0.02 + 0.012 * a->age + cold * (0.3 - 0.3 * a->fat);
    if (chance() < risk) continue;
    if (kept != k) herd[kept] = *a;
    kept++;
  }
  lost = count - kept;
  count = kept;
  return lost;
}

static int spring(void) {
  int grown = count;
  for (int k = 0; k < grown; k++) {
    if (herd[k].age < 3 || chance() > 0.35 + 0.4 * herd[k].fat) continue;
    uint32_t mother = herd[k].tag;
    float shade = herd[k].coat[1];
    struct animal *a = arrive(0, mother);
    a->coat[1] = 0.5f * (a->coat[1] + shade);
  }
  return count - grown;
}

int main(int argc, char **argv) {
  int start = argc > 1 ? atoi(argv[1]) : 40000;
  int years = argc > 2 ? atoi(argv[2]) : 8;
  state = 88172645463325252ull + (argc > 3 ? strtoull(argv[3], NULL, 10) : 0) * 2654435761u;
  for (int k = 0; k < start; k++) arrive(k % 13, 0);
  for (int y = 0; y < years; y++) {
    for (int week = 0; week < 40; week++) graze_week((2.6 - 0.001 * (week - 20) * (week - 20)) * start);
    for (int k = 0; k < count; k++) herd[k].age++;
    int lost = winter(0.2 + 0.3 * chance());
    int born = spring();
    printf("year %d lost %d born %d herd %d\n", y + 1, lost, born, count);
  }
  double sum = 0.0;
  for (int k = 0; k < count; k++) sum += (k % 97 + 1.0) * (herd[k].mass + herd[k].fat + herd[k].coat[1]) + (herd[k].tag ^ herd[k].mother) % 1009;
  printf("checksum %.10e\n", sum);
  free(herd);
  return 0;
}
