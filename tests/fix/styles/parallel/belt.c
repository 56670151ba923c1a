#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROOM 16

typedef struct {
  pthread_mutex_t lock;
  long item[ROOM];
  int head, used, closed;
} Belt;

static Belt belt = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int put(long v) {
  int ok = 0;
  pthread_mutex_lock(&belt.lock);
  if (belt.used < ROOM) {
    belt.item[(belt.head + belt.used++) % ROOM] = v;
    ok = 1;
  }
  pthread_mutex_unlock(&belt.lock);
  return ok;
}

static int take(long *v) {
  int state = 0;
  pthread_mutex_lock(&belt.lock);
  if (belt.used > 0) {
    *v = belt.item[belt.head];
    belt.head = (belt.head + 1) % ROOM;
    belt.used--;
    state = 1;
  } else if (belt.closed) {
    state = -1;
  }
  pthread_mutex_unlock(&belt.lock);
  return state;
}

static long inspect(long v) {
  long h = v + 1;
  for (int k = 0; k < 2000; k++) h = (h * 48271L + k) % 2147483647L;
  return h % 1000;
}

static void *packer(void *out) {
  long v, *sum = out;
  int state;
  while ((state = take(&v)) >= 0) {
    if (state == 0) {
      usleep(1000);
      continue;
    }
    *sum += inspect(v);
  }
  return NULL;
}

static void load(long n) {
  for (long i = 0; i < n; i++)
    while (!put(i)) usleep(1000);
  pthread_mutex_lock(&belt.lock);
  belt.closed = 1;
  pthread_mutex_unlock(&belt.lock);
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 60000, sum[3] = {0, 0, 0};
  pthread_t t[3];
  for (int k = 0; k < 3; k++) pthread_create(&t[k], NULL, packer, &sum[k]);
  load(n);
  for (int k = 0; k < 3; k++) pthread_join(t[k], NULL);
  printf("checksum %ld\n", sum[0] + sum[1] + sum[2]);
  return 0;
}
