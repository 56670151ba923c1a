#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int columns;
    int levels;
    double *air;
    double *ice;
    double *sun;
    double *ozone;
} globe;

static double *grid(int n, double value)
{
    double *a = malloc((size_t)n * sizeof *a);
    if (!a)
        exit(1);
    for (int i = 0; i < n; i++)
        a[i] = value;
    return a;
}

static void set_up(globe *g, int columns, int levels)
{
    g->columns = columns;
    g->levels = levels;
    g->air = grid(columns * levels, 250.0);
    g->ice = grid(columns * levels, 260.0);
    g->ozone = grid(columns * levels, 1.0);
    g->sun = grid(columns, 0.0);
    for (int c = 0; c < columns; c++) {
        double lat = 90.0 - 180.0 * (c + 0.5) / columns;
        g->sun[c] = lat > 0.0 ? sin(lat * 0.017453292519943295) : 0.0;
        for (int k = 0; k < levels; k++) {
            g->air[c * levels + k] += 0.5 * k + 0.05 * lat;
            g->ice[c * levels + k] += 0.2 * k;
        }
    }
}

static void photolyse(globe *g, int c, int substeps)
{
    double *o = g->ozone + (size_t)c * g->levels;
    double *t = g->air + (size_t)c * g->levels;
    int rounds = g->sun[c] > 0.0 ? substeps : 1;
    for (int r = 0; r < rounds; r++) {
        double beam = g->sun[c];
        for (int k = g->levels - 1; k >= 0; k--) {
            double made = 0.02 * beam / (1.0 + o[k] * o[k]);
            o[k] += 0.1 * (made - 0.01 * o[k]);
            t[k] += 0.01 * (made - 1e-5 * t[k]);
            beam *= 1.0 - 0.01 * o[k] / (1.0 + o[k]);
        }
    }
}

static void freeze(globe *g, int c, int substeps)
{
    double *s = g->ice + (size_t)c * g->levels;
    const double *t = g->air + (size_t)c * g->levels;
    int rounds = g->sun[c] > 0.0 ? 1 : substeps;
    for (int r = 0; r < rounds; r++) {
        double above = t[0];
        for (int k = 0; k < g->levels; k++) {
            double conduct = 2.1 / (1.0 + 0.003 * s[k]);
            double latent = 0.05 / (1.0 + above * above * 1e-4);
            s[k] += 0.01 * (conduct * (above - s[k]) - latent);
            above = 0.5 * (above + s[k]);
        }
    }
}

static void integrate(globe *g, int steps, int day, int night)
{
#pragma omp parallel
    for (int n = 0; n < steps; n++) {
#pragma omp for schedule(static) nowait
        for (int c = 0; c < g->columns; c++)
            photolyse(g, c, day);
#pragma omp for schedule(static)
        for (int c = 0; c < g->columns; c++)
            freeze(g, c, night);
    }
}

static double mean(const double *a, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s / n;
}

int main(int argc, char **argv)
{
    int columns = argc > 1 ? atoi(argv[1]) : 256;
    int levels = argc > 2 ? atoi(argv[2]) : 40;
    int steps = argc > 3 ? atoi(argv[3]) : 350;
    int day = argc > 4 ? atoi(argv[4]) : 40;
    int night = argc > 5 ? atoi(argv[5]) : 57;
    globe g;

    set_up(&g, columns, levels);
    integrate(&g, steps, day, night);
    printf("air   %.10f\n", mean(g.air, columns * levels));
    printf("ice   %.10f\n", mean(g.ice, columns * levels));
    printf("ozone %.10f\n", mean(g.ozone, columns * levels));
    free(g.air);
    free(g.ice);
    free(g.ozone);
    free(g.sun);
    return 0;
}
