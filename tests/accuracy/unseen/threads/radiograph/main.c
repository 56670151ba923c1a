/* Preparation of a neutron-radiography stack for tomography:
 * flat-field correction and -log, then a 5x5 median against gamma spots,
 * then the line integrals over the detector rows (sinogram profile). */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXT 8

static int W = 1024, H = 1024, NT = 2;
static uint16_t *raw, *flat, *dark;
static float *mu, *clean;

static uint32_t rng_state = 1;
static uint32_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 17;
    rng_state ^= rng_state << 5;
    return rng_state;
}

/* A synthetic projection: a cylinder with three channels, noise, gamma spots. */
static void acquire(int angle)
{
    rng_state = 977u * (angle + 1);
    double c = cos(angle * 0.05), s = sin(angle * 0.05);
    float *prof = malloc(W * sizeof *prof);
    for (int x = 0; x < W; x++) {
        double u = (x - 0.5 * W) / (0.45 * W);
        double t = u * u < 1 ? 2.0 * sqrt(1 - u * u) : 0;
        for (int k = 0; k < 3; k++) {
            double uc = 0.5 * (c * cos(2.1 * k) + s * sin(2.1 * k)), d = (u - uc) / 0.15;
            if (d * d < 1) t -= 0.3 * sqrt(1 - d * d);
        }
        prof[x] = 40000.0 * exp(-0.9 * t);
    }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            uint32_t r = rng();
            int v = 200 + (int)prof[x] + (int)(r & 511) - 256;
            if ((r >> 16) < 60) v = 65000;
            raw[(size_t)y * W + x] = v < 0 ? 0 : v;
        }
    free(prof);
}

static void attenuation(int y0, int y1)
{
    for (size_t i = (size_t)y0 * W; i < (size_t)y1 * W; i++) {
        float num = (float)raw[i] - dark[i], den = (float)flat[i] - dark[i];
        float t = num > 1.0f ? num / den : 1.0f / den;
        mu[i] = -logf(t);
    }
}

static inline void order(float *a, float *b)
{
    float lo = fminf(*a, *b), hi = fmaxf(*a, *b);
    *a = lo;
    *b = hi;
}

/* median of the 25 neighbours by partial selection; border pixels are kept */
static void despeckle(int y0, int y1)
{
    for (int y = y0; y < y1; y++) {
        float *out = clean + (size_t)y * W;
        memcpy(out, mu + (size_t)y * W, W * sizeof *out);
        if (y < 2 || y >= H - 2) continue;
        for (int x = 2; x < W - 2; x++) {
            float p[25];
            for (int j = 0; j < 5; j++)
                memcpy(p + 5 * j, mu + (size_t)(y + j - 2) * W + x - 2, 5 * sizeof *p);
            for (int k = 0; k <= 12; k++)
                for (int m = 24; m > k; m--)
                    order(&p[m - 1], &p[m]);
            out[x] = p[12];
        }
    }
}

struct band {
    int y0, y1;
};

static void *correct_band(void *arg)
{
    struct band *b = arg;
    attenuation(b->y0, b->y1);
    return NULL;
}

static void in_bands(void *(*f)(void *))
{
    pthread_t th[MAXT];
    struct band b[MAXT];
    for (int t = 0; t < NT; t++) {
        b[t].y0 = H * t / NT;
        b[t].y1 = H * (t + 1) / NT;
        pthread_create(&th[t], NULL, f, &b[t]);
    }
    for (int t = 0; t < NT; t++)
        pthread_join(th[t], NULL);
}

int main(int argc, char **argv)
{
    int nproj = argc > 1 ? atoi(argv[1]) : 10;
    if (argc > 2) W = H = atoi(argv[2]);
    if (argc > 3) NT = atoi(argv[3]);
    if (NT > MAXT) NT = MAXT;
    size_t n = (size_t)W * H;
    raw = malloc(n * sizeof *raw);
    flat = malloc(n * sizeof *flat);
    dark = malloc(n * sizeof *dark);
    mu = malloc(n * sizeof *mu);
    clean = malloc(n * sizeof *clean);
    for (size_t i = 0; i < n; i++) {
        flat[i] = 40200 + (rng() & 255);
        dark[i] = 180 + (rng() & 31);
    }
    double grand = 0;
    for (int a = 0; a < nproj; a++) {
        acquire(a);
        in_bands(correct_band);
        despeckle(0, H);
        double s = 0;
        for (int x = 0; x < W; x++)
            s += clean[(size_t)(H / 2) * W + x];
        grand += s;
        printf("projection %3d  line integral %.5f\n", a, s / W);
    }
    printf("mean %.6f\n", grand / nproj / W);
    return 0;
}
