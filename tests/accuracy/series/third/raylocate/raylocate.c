/* Earthquake location by grid search over ray-traced travel times */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NZ 48          /* source depths, km */
#define NX 160         /* epicentral distances */
#define DX 1.25
#define NSTA 8
#define NEVENT 1100
#define MAXTHREADS 64

struct layer { double top, v, grad; };
static const struct layer crust[] = {{0, 4.8, 0.04}, {8, 5.9, 0.02}, {20, 6.6, 0.01}, {35, 7.9, 0.002}};

static double sta_x[NSTA], sta_y[NSTA];

struct event { double x, y, z, t[NSTA]; double fx, fy, fz, misfit; };
static struct event events[NEVENT];

struct job { int first, last, refine; };

static double slowness(double z)
{
    int k = 3;
    while (k > 0 && z < crust[k].top) k--;
    return 1.0 / (crust[k].v + crust[k].grad * (z - crust[k].top));
}

/* straight ray through the layered model, corrected by a bending term */
static double trace(double x, double z, int refine)
{
    double len = sqrt(x * x + z * z) + 1e-9, sum = 0;
    for (int i = 0; i < refine; i++) {
        double f = (i + 0.5) / refine;
        double sag = 0.06 * x * sin(M_PI * f);
        sum += slowness(z * f + sag) * sqrt(1 + 0.0036 * cos(M_PI * f) * cos(M_PI * f));
    }
    return sum / refine * len;
}

__attribute__((noinline)) void travel_times(double *table, int refine)
{
    for (int iz = 0; iz < NZ; iz++)
        for (int ix = 0; ix < NX; ix++)
            table[iz * NX + ix] = trace(ix * DX, iz, refine);
}

static double lookup(const double *table, double d, int iz)
{
    double g = d / DX;
    int i = (int)g;
    if (i > NX - 2) i = NX - 2;
    g -= i;
    return (1 - g) * table[iz * NX + i] + g * table[iz * NX + i + 1];
}

__attribute__((noinline)) void locate(struct event *ev, const double *table)
{
    ev->misfit = 1e30;
    for (int gx = 0; gx < 26; gx++)
        for (int gy = 0; gy < 26; gy++) {
            double dist[NSTA];
            for (int s = 0; s < NSTA; s++) dist[s] = hypot(gx * 4.0 - sta_x[s], gy * 4.0 - sta_y[s]);
            for (int iz = 1; iz < NZ; iz += 2) {
                double m = 0;
                for (int s = 0; s < NSTA; s++) {
                    double r = lookup(table, dist[s], iz) - ev->t[s];
                    m += r * r;
                }
                if (m < ev->misfit) {
                    ev->misfit = m;
                    ev->fx = gx * 4.0;
                    ev->fy = gy * 4.0;
                    ev->fz = iz;
                }
            }
        }
}

__attribute__((noinline)) void *worker(void *arg)
{
    struct job *j = arg;
    double *table = malloc(sizeof(double) * NZ * NX);
    travel_times(table, j->refine);
    for (int e = j->first; e < j->last; e++) locate(&events[e], table);
    free(table);
    return NULL;
}

int main(int argc, char **argv)
{
    int nt = argc > 1 ? atoi(argv[1]) : 1;
    int nev = argc > 2 ? atoi(argv[2]) : NEVENT;
    int refine = argc > 3 ? atoi(argv[3]) : 4800;
    pthread_t tid[MAXTHREADS];
    struct job job[MAXTHREADS];
    if (nt < 1 || nt > MAXTHREADS) return 1;
    for (int s = 0; s < NSTA; s++) {
        sta_x[s] = 50 + 45 * cos(0.8 * s);
        sta_y[s] = 50 + 45 * sin(0.8 * s);
    }
    for (int e = 0; e < nev; e++) {
        struct event *ev = &events[e];
        ev->x = fmod(37.0 * e, 100.0);
        ev->y = fmod(61.0 * e, 100.0);
        ev->z = 3 + e % 40;
        for (int s = 0; s < NSTA; s++) ev->t[s] = trace(hypot(ev->x - sta_x[s], ev->y - sta_y[s]), ev->z, 100);
    }
    for (int t = 0; t < nt; t++) {
        job[t] = (struct job){nev * t / nt, nev * (t + 1) / nt, refine};
        pthread_create(&tid[t], NULL, worker, &job[t]);
    }
    for (int t = 0; t < nt; t++) pthread_join(tid[t], NULL);
    double err = 0;
    for (int e = 0; e < nev; e++) err += hypot(events[e].x - events[e].fx, events[e].y - events[e].fy);
    printf("located %d events, mean epicentre error %.3f km\n", nev, err / nev);
    return 0;
}
