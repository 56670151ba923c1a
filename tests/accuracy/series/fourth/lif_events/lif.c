/* Event-driven network of leaky integrate-and-fire cells with delayed synapses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define FANOUT 12
#define STEPS 700

typedef struct { double v, last, g; unsigned spikes; } Cell;
typedef struct Pulse { double t; int cell; float w; struct Pulse *next; } Pulse;

static Cell  *cell;
static int   *target;
static float *weight;
static Pulse *pending, *pool;
static int    ncell;
static unsigned long long rs = 0x2545F4914F6CDD1DULL;

static double urand(void)
{
    rs ^= rs >> 12; rs ^= rs << 25; rs ^= rs >> 27;
    return (double)((rs * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

NOINLINE static void build_network(int n)
{
    ncell = n;
    cell = calloc(n, sizeof *cell);
    target = malloc(sizeof *target * n * FANOUT);
    weight = malloc(sizeof *weight * n * FANOUT);
    for (int i = 0; i < n * FANOUT; i++) {
        target[i] = (int)(urand() * n);
        weight[i] = (float)(0.02 + 0.05 * urand());
    }
}

NOINLINE static void post(double t, int c, float w)
{
    Pulse *p = pool, **at = &pending;
    if (p) pool = p->next;
    else p = malloc(sizeof *p);
    p->t = t; p->cell = c; p->w = w;
    while (*at && (*at)->t <= t) at = &(*at)->next;
    p->next = *at;
    *at = p;
}

NOINLINE static Pulse take(void)
{
    Pulse *p = pending, out = *p;
    pending = p->next;
    p->next = pool;
    pool = p;
    return out;
}

NOINLINE static int integrate(Cell *c, double t, float w)
{
    double dt = (t - c->last) / STEPS;
    for (int k = 0; k < STEPS; k++) {
        double a = exp(-c->g * 0.7);
        c->g += dt * (-c->g / 4.0 + 0.02 * a);
        c->v += dt * (-c->v / 20.0 + c->g * (1.6 - c->v));
    }
    c->last = t;
    c->v += w;
    if (c->v < 1.0) return 0;
    c->v = 0.0;
    c->spikes++;
    return 1;
}

NOINLINE static double rate_spread(void)
{
    double m = 0, q = 0;
    for (int i = 0; i < ncell; i++) { m += cell[i].spikes; q += (double)cell[i].spikes * cell[i].spikes; }
    m /= ncell;
    return sqrt(q / ncell - m * m);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000;
    long budget = 20L * n, fired = 0;
    build_network(n);
    for (int i = 0; i < n; i++) post(10.0 * urand(), i, 0.3f);
    while (pending && budget-- > 0) {
        Pulse p = take();
        if (integrate(&cell[p.cell], p.t, p.w)) {
            fired++;
            post(p.t + 1.5 + 3.0 * urand(), target[p.cell * FANOUT + fired % FANOUT],
                 weight[p.cell * FANOUT + fired % FANOUT]);
        }
        if (p.w > 0.1f) post(p.t + 2.0 + 8.0 * urand(), p.cell, (float)(0.2 + 0.2 * urand()));
    }
    printf("cells %d  spikes %ld  spread %.3f\n", n, fired, rate_spread());
    return 0;
}
