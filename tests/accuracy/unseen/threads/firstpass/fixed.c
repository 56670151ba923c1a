/* Diffusion-limited reaction: mean first-passage time of a walker on a cubic
 * lattice with reflecting walls to a reactive patch on one face. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAXT 8

struct site {
    int x, y, z;
};

static int edge = 24, patch = 6, nt = 2;
static long per_thread;
static unsigned seed[MAXT];
static long steps[MAXT], touched[MAXT];

static inline int bounce(int c, int d)
{
    int n = c + d;
    return n < 0 || n >= edge ? c : n;
}

static inline int on_patch(struct site s)
{
    int lo = (edge - patch) / 2, hi = lo + patch;
    return s.x >= lo && s.x < hi && s.y >= lo && s.y < hi;
}

static struct site place(unsigned *seed)
{
    struct site s;
    s.x = rand_r(seed) % edge;
    s.y = rand_r(seed) % edge;
    s.z = edge - 1;
    return s;
}

/* one walk from the far face to the patch */
static void passage(unsigned *seed, long *hops, long *visits)
{
    struct site s = place(seed);
    for (;;) {
        unsigned r = (unsigned)rand_r(seed) >> 9;
        int d = r & 1 ? 1 : -1;
        switch ((r >> 1) % 3) {
        case 0: s.x = bounce(s.x, d); break;
        case 1: s.y = bounce(s.y, d); break;
        default: s.z = bounce(s.z, d); break;
        }
        ++*hops;
        if (s.z == 0) {
            ++*visits;
            if (on_patch(s)) return;
        }
    }
}

static void *walk(void *arg)
{
    int id = (int)(intptr_t)arg;
    unsigned own_seed = seed[id];
    long hops = 0, visits = 0;
    for (long k = 0; k < per_thread; k++)
        passage(&own_seed, &hops, &visits);
    seed[id] = own_seed, steps[id] = hops, touched[id] = visits;
    return NULL;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10000;
    if (argc > 2) edge = atoi(argv[2]);
    if (argc > 3) nt = atoi(argv[3]);
    if (nt > MAXT) nt = MAXT;
    per_thread = n / nt;

    pthread_t th[MAXT];
    for (int t = 0; t < nt; t++) {
        seed[t] = 1000u + 77u * t;
        pthread_create(&th[t], NULL, walk, (void *)(intptr_t)t);
    }
    double all = 0, hits = 0;
    for (int t = 0; t < nt; t++) {
        pthread_join(th[t], NULL);
        all += steps[t];
        hits += touched[t];
    }
    n = per_thread * nt;
    printf("edge %d  patch %d  passages %ld\n", edge, patch, n);
    printf("mean first-passage time %.4f steps\n", all / n);
    printf("visits to the reactive face per passage %.5f\n", hits / n);
    printf("in units of edge^2: %.5f\n", all / n / edge / edge);
    return 0;
}
