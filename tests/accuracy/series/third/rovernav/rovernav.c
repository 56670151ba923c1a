/* Local planner of a planetary rover: candidate arcs are scored against the
 * clearance map of the surrounding terrain, one plan per camera frame. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define G 320
#define NARC 1024
#define NPOSE 160

static unsigned char rock[G][G];
static float score[NARC];

static inline float minf(float a, float b) { return a < b ? a : b; }

NOINLINE static void sense_rocks(int frame)
{
    for (int j = 0; j < G; j++)
        for (int i = 0; i < G; i++) {
            unsigned h = (unsigned)(i / 3) * 73856093u ^ (unsigned)((j + frame) / 3) * 19349663u;
            h ^= h >> 13;
            h *= 0x5bd1e995u;
            rock[j][i] = ((h >> 15) & 255) < 6;
        }
}

NOINLINE static void clearance_map(float *d)
{
    const float s = 1.0f, q = 1.41421356f;
    for (int k = 0; k < G * G; k++) d[k] = ((unsigned char *)rock)[k] ? 0.0f : 1e6f;
    for (int pass = 0; pass < 4; pass++) {
        for (int j = 1; j < G - 1; j++)
            for (int i = 1; i < G - 1; i++) {
                float *c = d + j * G + i;
                float m = minf(minf(c[-1] + s, c[-G] + s), minf(c[-G - 1] + q, c[-G + 1] + q));
                *c = minf(*c, m);
            }
        for (int j = G - 2; j > 0; j--)
            for (int i = G - 2; i > 0; i--) {
                float *c = d + j * G + i;
                float m = minf(minf(c[1] + s, c[G] + s), minf(c[G + 1] + q, c[G - 1] + q));
                *c = minf(*c, m);
            }
    }
}

NOINLINE static float score_arc(const float *d, int arc)
{
    float kappa = 0.02f * ((float)arc / NARC - 0.5f), th = 1.5707963f;
    float x = G / 2, y = 20.0f, cost = 0.0f;
    for (int p = 0; p < NPOSE; p++) {
        th += kappa;
        x += 1.5f * cosf(th);
        y += 1.5f * sinf(th);
        int i = (int)x, j = (int)y;
        i = i < 0 ? 0 : i > G - 1 ? G - 1 : i;
        j = j < 0 ? 0 : j > G - 1 ? G - 1 : j;
        cost += expf(-0.4f * d[j * G + i]);
    }
    return cost + 40.0f * fabsf(kappa);
}

NOINLINE static int plan_frame(float **clear)
{
#pragma omp parallel
    {
        float *mine = clear[omp_get_thread_num()];
        clearance_map(mine);
#pragma omp for schedule(static)
        for (int a = 0; a < NARC; a++) score[a] = score_arc(mine, a);
    }
    int best = 0;
    for (int a = 1; a < NARC; a++)
        if (score[a] < score[best]) best = a;
    return best;
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 190;
    int nt = omp_get_max_threads();
    float **clear = malloc(nt * sizeof *clear);
    for (int t = 0; t < nt; t++) clear[t] = malloc(G * G * sizeof(float));
    long steer = 0;
    double cost = 0.0;
    for (int f = 0; f < frames; f++) {
        sense_rocks(f);
        int best = plan_frame(clear);
        steer += best - NARC / 2;
        cost += score[best];
    }
    printf("frames %d  mean steer %.3f  mean cost %.5f\n", frames, (double)steer / frames, cost / frames);
    return 0;
}
