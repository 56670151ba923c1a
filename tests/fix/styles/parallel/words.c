#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 1024

struct job {
  const char *from, *to;
};

static unsigned long slot[SLOTS];
static pthread_mutex_t slot_lock = PTHREAD_MUTEX_INITIALIZER;

static char *compose(size_t len) {
  char *s = malloc(len + 1), *p = s;
  unsigned r = 99;
  while (p < s + len) {
    r = r * 1103515245u + 12345u;
    *p++ = (r >> 16) % 5 == 0 ? ' ' : (char)('a' + (r >> 20) % 26);
  }
  s[len] = 0;
  return s;
}

static void note(unsigned h) {
  pthread_mutex_lock(&slot_lock);
  slot[h % SLOTS]++;
  pthread_mutex_unlock(&slot_lock);
}

static void *scan(void *arg) {
  const struct job *j = arg;
  const char *p = j->from;
  while (p < j->to) {
    unsigned h = 2166136261u;
    while (p < j->to && *p == ' ') p++;
    if (p == j->to) break;
    for (; p < j->to && *p != ' '; p++) h = (h ^ (unsigned char)*p) * 16777619u;
    note(h);
  }
  return NULL;
}

int main(int argc, char **argv) {
  size_t len = argc > 1 ? strtoul(argv[1], NULL, 10) : 80000000ul;
  int nt = argc > 2 ? atoi(argv[2]) : 4, t;
  char *text = compose(len);
  pthread_t *tid = malloc(nt * sizeof *tid);
  struct job *job = malloc(nt * sizeof *job);
  unsigned long sum = 0;
  for (t = 0; t < nt; t++) {
    job[t].from = t == 0 ? text : job[t - 1].to;
    job[t].to = text + len * (t + 1) / nt;
    while (job[t].to < text + len && *job[t].to != ' ') job[t].to++;
    pthread_create(&tid[t], NULL, scan, &job[t]);
  }
  for (t = 0; t < nt; t++) pthread_join(tid[t], NULL);
  for (t = 0; t < SLOTS; t++) sum += slot[t] * (t + 1);
  printf("checksum %lu\n", sum);
  free(text);
  free(tid);
  free(job);
  return 0;
}
