#include <immintrin.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TAPS 16
#define WIDE 6
#define TILE (8 * WIDE)
#define SPAN (32 * TILE)

typedef struct {
    float value;
    int where;
} Peak;

static void record(float *x, long first, long n)
{
    for (long i = 0; i < n; i++) {
        uint32_t k = (uint32_t)(first + i);
        k ^= k >> 16;
        k *= 0x7feb352dU;
        k ^= k >> 15;
        k *= 0x846ca68bU;
        k ^= k >> 16;
        x[i] = (float)(int32_t)(k >> 8) * (1.0f / 8388608.0f) - 1.0f;
    }
}

static float *bank_new(int count)
{
    float *bank = aligned_alloc(64, sizeof(float) * TAPS * count);
    for (int t = 0; t < count; t++) {
        double start = 0.05 + 0.4 * t / count, rate = 0.002 * (t % 16), power = 0.0;
        for (int k = 0; k < TAPS; k++) {
            double w = sin(M_PI * (k + 0.5) / TAPS) * cos(2.0 * M_PI * (start + rate * k) * k);
            bank[t * TAPS + k] = (float)w;
            power += w * w;
        }
        for (int k = 0; k < TAPS; k++)
            bank[t * TAPS + k] /= (float)sqrt(power);
    }
    return bank;
}

static inline float widest(__m256 v)
{
    float lane[8], best;
    _mm256_storeu_ps(lane, v);
    best = lane[0];
    for (int i = 1; i < 8; i++)
        best = lane[i] > best ? lane[i] : best;
    return best;
}

static inline void match_pair(const float *x, const float *h, const float *g, float *top)
{
    __m256 hbest = _mm256_set1_ps(-1e30f), gbest = hbest;
    for (int s = 0; s < SPAN; s += TILE) {
        __m256 p[WIDE], q[WIDE];
#pragma GCC unroll 6
        for (int w = 0; w < WIDE; w++)
            p[w] = q[w] = _mm256_setzero_ps();
#pragma GCC unroll 2
        for (int k = 0; k < TAPS; k++) {
            __m256 a = _mm256_set1_ps(h[k]), b = _mm256_set1_ps(g[k]);
#pragma GCC unroll 6
            for (int w = 0; w < WIDE; w++) {
                __m256 v = _mm256_loadu_ps(x + s + k + 8 * w);
                p[w] = _mm256_fmadd_ps(a, v, p[w]);
                q[w] = _mm256_fmadd_ps(b, v, q[w]);
            }
        }
#pragma GCC unroll 6
        for (int w = 0; w < WIDE; w++) {
            hbest = _mm256_max_ps(hbest, p[w]);
            gbest = _mm256_max_ps(gbest, q[w]);
        }
    }
    top[0] = widest(hbest);
    top[1] = widest(gbest);
}

static void search(const float *x, long spans, int origin, const float *bank, int count, Peak *peak)
{
    for (long s = 0; s < spans; s++)
        for (int t = 0; t < count; t += 2) {
            float top[2];
            match_pair(x + s * SPAN, bank + t * TAPS, bank + (t + 1) * TAPS, top);
            for (int k = 0; k < 2; k++)
                if (top[k] > peak[t + k].value) {
                    peak[t + k].value = top[k];
                    peak[t + k].where = origin + (int)s;
                }
        }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int count = argc > 1 ? 2 * (atoi(argv[1]) / 2) : 512;
    long spans = argc > 2 ? atol(argv[2]) / ranks : 3000;
    float *bank = bank_new(count);
    float *x = aligned_alloc(64, sizeof(float) * (spans * SPAN + 64));
    Peak *mine = malloc(sizeof(Peak) * count), *best = malloc(sizeof(Peak) * count);
    for (int t = 0; t < count; t++)
        mine[t] = (Peak){-1e30f, 0};
    record(x, rank * spans * SPAN, spans * SPAN + 64);
    search(x, spans, (int)(rank * spans), bank, count, mine);
    MPI_Reduce(mine, best, count, MPI_FLOAT_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int t = 0; t < count; t += count / 8)
            printf("template %3d peak %.6f span %d\n", t, best[t].value, best[t].where);
    free(x);
    free(bank);
    free(mine);
    free(best);
    MPI_Finalize();
    return 0;
}
