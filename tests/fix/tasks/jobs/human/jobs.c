#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
  pthread_mutex_t mu;
  pthread_cond_t cv;
  int posted, finished, stop;
  double arg, result;
} Channel;

static double solve(double x) {
  double y = x;
  for (int k = 0; k < 12000; k++) y = y - (y * y - x) / (2.0 * y + 1e-9) * 0.01;
  return y;
}

static void *server(void *p) {
  Channel *c = p;
  pthread_mutex_lock(&c->mu);
  for (;;) {
    while (!c->posted && !c->stop) pthread_cond_wait(&c->cv, &c->mu);
    if (c->stop) break;
    c->posted = 0;
    double a = c->arg;
    pthread_mutex_unlock(&c->mu);
    double r = solve(a);
    pthread_mutex_lock(&c->mu);
    c->result = r;
    c->finished = 1;
    pthread_cond_broadcast(&c->cv);
  }
  pthread_mutex_unlock(&c->mu);
  return NULL;
}

static void post(Channel *c, double a) {
  pthread_mutex_lock(&c->mu);
  c->arg = a;
  c->finished = 0;
  c->posted = 1;
  pthread_cond_broadcast(&c->cv);
  pthread_mutex_unlock(&c->mu);
}

static double collect(Channel *c) {
  double r;
  pthread_mutex_lock(&c->mu);
  while (!c->finished) pthread_cond_wait(&c->cv, &c->mu);
  r = c->result;
  pthread_mutex_unlock(&c->mu);
  return r;
}

static double prepare(int i) {
  double a = 1.0;
  for (int k = 1; k < 2000; k++) a += sin(0.001 * (i + k)) * 1e-3;
  return a;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1100;
  unsigned seed = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1u;
  static Channel c;
  pthread_t th;
  double s = 0.0;
  pthread_mutex_init(&c.mu, NULL);
  pthread_cond_init(&c.cv, NULL);
  pthread_create(&th, NULL, server, &c);
  for (int i = 0; i < n; i++) {
    post(&c, prepare(i + (int)(seed % 1000)));
    s += collect(&c);
  }
  pthread_mutex_lock(&c.mu);
  c.stop = 1;
  pthread_cond_broadcast(&c.cv);
  pthread_mutex_unlock(&c.mu);
  pthread_join(th, NULL);
  printf("checksum %.10e\n", s);
  return 0;
}
