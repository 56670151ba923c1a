/* Digital receiver for one polarisation of a radio telescope: the first thread mixes
 * the band down and low-passes it, the second shapes it with the matched filter of
 * the pulsar template and integrates the power by pulse phase. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 32768
#define TAPS 160
#define DEPTH 8
#define BINS 256
#define PERIOD 73728

typedef float vec __attribute__((vector_size(64)));
typedef float loose __attribute__((vector_size(64), aligned(4)));

static float lowpass[TAPS], matched[TAPS];
static float *sky; /* one second of recorded band, played in a loop */
static const int sky_len = 1 << 20;

static struct {
    pthread_mutex_t m;
    pthread_cond_t room, filled;
    float *slot[DEPTH];
    long put, got;
} ring = {.m = PTHREAD_MUTEX_INITIALIZER, .room = PTHREAD_COND_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

static long nblocks = 1000;
static double profile[BINS];

/* out[i] = sum_k h[k] x[i + k]; eight vectors of outputs at a time stay in registers */
static void fir(const float *restrict h, const float *restrict x, float *restrict out)
{
    for (int i = 0; i < BLOCK; i += 128) {
        vec a0 = {0}, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
        for (int k = 0; k < TAPS; k++) {
            const loose *p = (const loose *)(x + i + k);
            float c = h[k];
            a0 += c * p[0], a1 += c * p[1], a2 += c * p[2], a3 += c * p[3];
            a4 += c * p[4], a5 += c * p[5], a6 += c * p[6], a7 += c * p[7];
        }
        loose *o = (loose *)(out + i);
        o[0] = a0, o[1] = a1, o[2] = a2, o[3] = a3, o[4] = a4, o[5] = a5, o[6] = a6, o[7] = a7;
    }
}

static void *receiver(void *unused)
{
    (void)unused;
    float *in = calloc(BLOCK + TAPS, sizeof *in);
    static const float mixer[4] = {1, 0, -1, 0};
    for (long b = 0; b < nblocks; b++) {
        memcpy(in, in + BLOCK, TAPS * sizeof *in);
        const float *src = sky + (b * BLOCK & (sky_len - 1));
        for (int i = 0; i < BLOCK; i++)
            in[TAPS + i] = src[i] * (1.0f + mixer[i & 3]);
        pthread_mutex_lock(&ring.m);
        while (ring.put - ring.got == DEPTH)
            pthread_cond_wait(&ring.room, &ring.m);
        float *out = ring.slot[ring.put % DEPTH];
        pthread_mutex_unlock(&ring.m);
        fir(lowpass, in, out);
        pthread_mutex_lock(&ring.m);
        ring.put++;
        pthread_cond_signal(&ring.filled);
        pthread_mutex_unlock(&ring.m);
    }
    free(in);
    return NULL;
}

static void *folder(void *unused)
{
    (void)unused;
    float *in = calloc(BLOCK + TAPS, sizeof *in), *out = aligned_alloc(64, BLOCK * sizeof *out);
    for (long b = 0; b < nblocks; b++) {
        memcpy(in, in + BLOCK, TAPS * sizeof *in);
        pthread_mutex_lock(&ring.m);
        while (ring.put == ring.got)
            pthread_cond_wait(&ring.filled, &ring.m);
        const float *src = ring.slot[ring.got % DEPTH];
        pthread_mutex_unlock(&ring.m);
        memcpy(in + TAPS, src, BLOCK * sizeof *in);
        pthread_mutex_lock(&ring.m);
        ring.got++;
        pthread_cond_signal(&ring.room);
        pthread_mutex_unlock(&ring.m);
        fir(matched, in, out);
        for (int i = 0; i < BLOCK; i += 256) {
            float p = 0;
            for (int k = 0; k < 256; k++)
                p += out[i + k] * out[i + k];
            long bin = (b * BLOCK + i) % PERIOD * BINS / PERIOD;
            profile[bin] += p;
        }
    }
    free(in);
    free(out);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1) nblocks = atol(argv[1]);
    sky = malloc(sky_len * sizeof *sky);
    unsigned s = 12345;
    for (int i = 0; i < sky_len; i++) {
        s = s * 1664525u + 1013904223u;
        double ph = (double)(i % PERIOD) / PERIOD - 0.4;
        sky[i] = ((s >> 9) / 8388608.0f - 0.5f) * (1.0f + (float)exp(-ph * ph * 2000));
    }
    for (int k = 0; k < TAPS; k++) {
        double t = k - 0.5 * (TAPS - 1), win = 0.5 - 0.5 * cos(2 * M_PI * (k + 0.5) / TAPS);
        lowpass[k] = win * sin(0.25 * M_PI * t) / (M_PI * t);
        matched[k] = exp(-t * t / 200) * cos(0.1 * t) / 25;
    }
    for (int d = 0; d < DEPTH; d++)
        ring.slot[d] = aligned_alloc(64, BLOCK * sizeof(float));

    pthread_t a, b;
    pthread_create(&a, NULL, receiver, NULL);
    pthread_create(&b, NULL, folder, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);

    double sum = 0;
    int top = 0;
    for (int i = 0; i < BINS; i++) {
        sum += profile[i];
        if (profile[i] > profile[top]) top = i;
    }
    printf("samples %ld  mean power %.6e\n", nblocks * BLOCK, sum / ((double)nblocks * BLOCK));
    printf("peak bin %d  peak / mean %.4f\n", top, profile[top] / sum * BINS);
    return 0;
}
