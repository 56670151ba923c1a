/* f-I curve of a heterogeneous population of Hodgkin-Huxley cells. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#define NI __attribute__((noinline))
enum { CELLS = 1100, LEVELS = 4 };

typedef struct { double v, m, h, n, gna, gk; int spikes; } Neuron;

NI static void init_cell(Neuron *c, int id)
{
    c->v = -65; c->m = 0.053; c->h = 0.596; c->n = 0.318;
    c->gna = 120 * (1 + 0.05 * sin(1.3 * id));
    c->gk = 36 * (1 + 0.05 * cos(2.1 * id));
    c->spikes = 0;
}

NI static void rates(double v, double r[6])
{
    double a = v + 40, b = v + 55;
    r[0] = fabs(a) < 1e-6 ? 1.0 : 0.1 * a / (1 - exp(-a / 10));
    r[1] = 4 * exp(-(v + 65) / 18);
    r[2] = 0.07 * exp(-(v + 65) / 20);
    r[3] = 1 / (1 + exp(-(v + 35) / 10));
    r[4] = fabs(b) < 1e-6 ? 0.1 : 0.01 * b / (1 - exp(-b / 10));
    r[5] = 0.125 * exp(-(v + 65) / 80);
}

NI static void simulate(Neuron *c, double current, double tend, double dt)
{
    double r[6];
    for (double t = 0; t < tend; t += dt) {
        rates(c->v, r);
        c->m += dt * (r[0] * (1 - c->m) - r[1] * c->m);
        c->h += dt * (r[2] * (1 - c->h) - r[3] * c->h);
        c->n += dt * (r[4] * (1 - c->n) - r[5] * c->n);
        double n2 = c->n * c->n;
        double i = c->gna * c->m * c->m * c->m * c->h * (c->v - 50) + c->gk * n2 * n2 * (c->v + 77)
                 + 0.3 * (c->v + 54.4);
        double v = c->v + dt * (current - i);
        if (c->v < 0 && v >= 0) c->spikes++;
        c->v = v;
    }
}

int main(void)
{
    static Neuron pop[CELLS];
    const double tend = 100, dt = 0.02;
    for (int l = 0; l < LEVELS; l++) {
        double current = 6 + 4 * l;
        long total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
        for (int k = 0; k < CELLS; k++) {
            Neuron c;
            init_cell(&c, k);
            simulate(&c, current, tend, dt);
            total += c.spikes;
            pop[k] = c;
        }
        double vm = 0;
        for (int k = 0; k < CELLS; k++) vm += pop[k].v;
        printf("I %5.1f uA/cm2  rate %7.2f Hz  mean V %.2f mV\n", current, 1000.0 * total / (CELLS * tend), vm / CELLS);
    }
    return 0;
}
