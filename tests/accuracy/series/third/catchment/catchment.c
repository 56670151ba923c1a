/* Distributed rainfall-runoff model of a sloping catchment on a raster:
 * soil moisture per cell, D8 drainage directions, runoff routed to the outlets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

typedef struct {
    int nx, ny;
    float *elev, *moisture, *runoff, *discharge;
    int *down;
} basin;

static unsigned long rngstate = 88172645463325252ul;

static float frand(void)
{
    rngstate ^= rngstate << 13;
    rngstate ^= rngstate >> 7;
    rngstate ^= rngstate << 17;
    return (float)(rngstate >> 40) / 16777216.0f;
}

NOINLINE static void make_terrain(basin *b)
{
    for (int j = 0; j < b->ny; j++)
        for (int i = 0; i < b->nx; i++) {
            int k = j * b->nx + i;
            b->elev[k] = 2.0f * (b->ny - j) + 1.5f * frand() + 3.0f * sinf(0.05f * i);
            b->moisture[k] = 0.15f + 0.1f * frand();
        }
}

NOINLINE static void drainage_directions(basin *b)
{
    for (int j = 0; j < b->ny; j++)
        for (int i = 0; i < b->nx; i++) {
            int k = j * b->nx + i, best = -1;
            float steepest = 0.0f;
            for (int dj = -1; dj <= 1; dj++)
                for (int di = -1; di <= 1; di++) {
                    int y = j + dj, x = i + di;
                    if ((!di && !dj) || x < 0 || y < 0 || x >= b->nx || y >= b->ny) continue;
                    float drop = b->elev[k] - b->elev[y * b->nx + x];
                    if (di && dj) drop *= 0.70710678f;
                    if (drop > steepest) { steepest = drop; best = y * b->nx + x; }
                }
            b->down[k] = best;
        }
}

NOINLINE static void soil_column(basin *b, float rain, int hours)
{
    int n = b->nx * b->ny;
    for (int k = 0; k < n; k++) {
        float th = b->moisture[k], out = 0.0f;
        for (int h = 0; h < hours; h++) {
            float se = (th - 0.05f) / 0.40f;
            float cond = 2.0f * powf(se, 3.5f);
            float capacity = 4.0f * expf(-2.0f * se) + 0.2f;
            float infil = rain < capacity ? rain : capacity;
            out += rain - infil;
            th += (infil - cond) * 0.01f;
            if (th < 0.06f) th = 0.06f;
            if (th > 0.45f) th = 0.45f;
        }
        b->moisture[k] = th;
        b->runoff[k] = out;
    }
}

NOINLINE static void route_runoff(basin *b)
{
    int n = b->nx * b->ny;
    for (int k = 0; k < n; k++) b->discharge[k] = 0.0f;
    for (int k = 0; k < n; k++) {
        float q = b->runoff[k];
        for (int c = k; c >= 0; c = b->down[c]) b->discharge[c] += q;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 90000;
    int side = (int)(sqrt((double)n) + 0.5);
    basin b = { side, side, 0, 0, 0, 0, 0 };
    n = side * side;
    b.elev = malloc(n * sizeof(float));
    b.moisture = malloc(n * sizeof(float));
    b.runoff = malloc(n * sizeof(float));
    b.discharge = malloc(n * sizeof(float));
    b.down = malloc(n * sizeof(int));
    make_terrain(&b);
    drainage_directions(&b);
    soil_column(&b, 3.1f, 30);
    route_runoff(&b);
    float peak = 0.0f;
    double total = 0.0;
    for (int k = 0; k < n; k++) {
        if (b.discharge[k] > peak) peak = b.discharge[k];
        total += b.runoff[k];
    }
    printf("cells %d  runoff %.4f  peak discharge %.2f\n", n, total / n, peak);
    return 0;
}
