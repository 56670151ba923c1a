#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <math.h>

#define LAYERS 24

typedef struct {
    double tau[LAYERS];
    double albedo;
    int photons;
    double up;
    double down;
    double absorbed;
} Column;

static uint64_t next_word(uint64_t *s)
{
    uint64_t x = *s;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *s = x;
    return x;
}

static double uniform(uint64_t *s)
{
    return (double)(next_word(s) >> 11) * (1.0 / 9007199254740992.0);
}

static void make_scene(Column *col, int n, int photons)
{
    for (int c = 0; c < n; c++) {
        double lat = (double)c / n;
        double deck = lat > 0.68 ? 1.4 * (1.0 + 0.3 * sin(40.0 * lat)) : 0.0;
        for (int l = 0; l < LAYERS; l++) {
            double haze = 0.004 + 0.0004 * l;
            col[c].tau[l] = haze + (l > 8 && l < 18 ? deck : 0.0);
        }
        col[c].albedo = 0.12;
        col[c].photons = photons;
        col[c].up = col[c].down = col[c].absorbed = 0.0;
    }
}

static int fly(const Column *c, uint64_t *rng, double *weight)
{
    int layer = 0, dir = 1;
    double free_path = -log(1.0 - uniform(rng));
    for (;;) {
        if (free_path > c->tau[layer]) {
            free_path -= c->tau[layer];
            layer += dir;
            if (layer < 0)
                return 1;
            if (layer >= LAYERS) {
                if (uniform(rng) > c->albedo)
                    return 0;
                layer = LAYERS - 1;
                dir = -1;
            }
            continue;
        }
        *weight *= 0.9995;
        if (uniform(rng) > 0.85)
            dir = -dir;
        free_path = -log(1.0 - uniform(rng));
    }
}

static void solve_column(Column *c, int index)
{
    uint64_t rng = 0x9e3779b97f4a7c15ULL * (uint64_t)(index + 1);
    for (int p = 0; p < c->photons; p++) {
        double w = 1.0;
        int escaped = fly(c, &rng, &w);
        if (escaped)
            c->up += w;
        else
            c->down += w;
        c->absorbed += 1.0 - w;
    }
}

static void solve_scene(Column *col, int n)
{
#pragma omp parallel for
    for (int c = 0; c < n; c++)
        solve_column(&col[c], c);
}

static void report(const Column *col, int n, int bands)
{
    for (int b = 0; b < bands; b++) {
        double up = 0.0, down = 0.0, lost = 0.0, all = 0.0;
        for (int c = b * n / bands; c < (b + 1) * n / bands; c++) {
            up += col[c].up;
            down += col[c].down;
            lost += col[c].absorbed;
            all += col[c].photons;
        }
        printf("band %d  reflected %.6f  surface %.6f  absorbed %.6f\n", b,
               up / all, down / all, lost / all);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 600;
    int photons = argc > 2 ? atoi(argv[2]) : 4000;
    Column *col = malloc((size_t)n * sizeof *col);
    make_scene(col, n, photons);
    solve_scene(col, n);
    report(col, n, 6);
    free(col);
    return 0;
}
