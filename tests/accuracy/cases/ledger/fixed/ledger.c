#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ENTRIES 40000000

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static long balance;

static void *post_entries(void *given) {
  long base = (long)given, mine = 0;
  for (long i = 0; i < ENTRIES; i++) {
    mine += (i + base) % 7;
  }
  pthread_mutex_lock(&guard);
  balance += mine;
  pthread_mutex_unlock(&guard);
  return NULL;
}

int main(void) {
  pthread_t worker[4];
  for (long t = 0; t < 4; t++) pthread_create(&worker[t], NULL, post_entries, (void *)t);
  for (int t = 0; t < 4; t++) pthread_join(worker[t], NULL);
  printf("checksum %ld\n", balance);
  return 0;
}
