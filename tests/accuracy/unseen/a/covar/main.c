#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>

#define TILE 64
#define DEPTH 128

typedef struct {
    int sensors;
    int samples;
    float *x;
} Survey;

static uint64_t state = 7;

static float draw(void)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (float)(state >> 40) / 16777216.0f - 0.5f;
}

static Survey survey_new(int sensors, int samples)
{
    Survey s = {sensors, samples, NULL};
    s.x = aligned_alloc(64, (size_t)sensors * samples * sizeof(float));
    if (!s.x)
        exit(1);
    for (int t = 0; t < samples; t++) {
        float common = draw();
        for (int i = 0; i < sensors; i++)
            s.x[(size_t)t * sensors + i] = draw() + 0.1f * (float)(i % 5) * common;
    }
    return s;
}

static void remove_means(Survey *s, float *mean)
{
    memset(mean, 0, (size_t)s->sensors * sizeof *mean);
    for (int t = 0; t < s->samples; t++) {
        const float *row = s->x + (size_t)t * s->sensors;
#pragma omp simd
        for (int i = 0; i < s->sensors; i++)
            mean[i] += row[i];
    }
    float scale = 1.0f / (float)s->samples;
    for (int i = 0; i < s->sensors; i++)
        mean[i] *= scale;
    for (int t = 0; t < s->samples; t++) {
        float *row = s->x + (size_t)t * s->sensors;
#pragma omp simd
        for (int i = 0; i < s->sensors; i++)
            row[i] -= mean[i];
    }
}

static void pack(const Survey *s, int t0, int nt, int i0, float *restrict dst)
{
    for (int t = 0; t < nt; t++)
        memcpy(dst + (size_t)t * TILE, s->x + (size_t)(t0 + t) * s->sensors + i0,
               TILE * sizeof(float));
}

static void block_product(const float *restrict a, const float *restrict b, int nt,
                          float *restrict c, int ldc)
{
    for (int i = 0; i < TILE; i += 4)
        for (int j = 0; j < TILE; j += 8) {
            float acc[4][8] = {{0.0f}};
            for (int t = 0; t < nt; t++) {
                const float *pa = a + (size_t)t * TILE + i;
                const float *pb = b + (size_t)t * TILE + j;
                for (int p = 0; p < 4; p++)
#pragma omp simd
                    for (int q = 0; q < 8; q++)
                        acc[p][q] += pa[p] * pb[q];
            }
            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 8; q++)
                    c[(size_t)(i + p) * ldc + j + q] += acc[p][q];
        }
}

static void covariance(const Survey *s, float *c)
{
    static float a[DEPTH * TILE], b[DEPTH * TILE];
    int n = s->sensors;
    memset(c, 0, (size_t)n * n * sizeof *c);
    for (int t0 = 0; t0 < s->samples; t0 += DEPTH) {
        int nt = s->samples - t0 < DEPTH ? s->samples - t0 : DEPTH;
        for (int i = 0; i < n; i += TILE) {
            pack(s, t0, nt, i, a);
            for (int j = i; j < n; j += TILE) {
                pack(s, t0, nt, j, b);
                block_product(a, b, nt, c + (size_t)i * n + j, n);
            }
        }
    }
}

int main(int argc, char **argv)
{
    int sensors = argc > 1 ? atoi(argv[1]) / TILE * TILE : 1024;
    int samples = argc > 2 ? atoi(argv[2]) : 16000;
    Survey s = survey_new(sensors, samples);
    float *mean = malloc((size_t)sensors * sizeof *mean);
    float *c = malloc((size_t)sensors * sensors * sizeof *c);
    remove_means(&s, mean);
    covariance(&s, c);
    double trace = 0.0;
    for (int i = 0; i < sensors; i++)
        trace += c[(size_t)i * sensors + i];
    printf("trace %.5f  c01 %.5f  c49 %.5f\n", trace / samples, c[1] / samples,
           c[4 * (size_t)sensors + 9] / samples);
    free(c);
    free(mean);
    free(s.x);
    return 0;
}
