#include <immintrin.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 5, COLS = 16, DEPTH = 320, BAND = 160 };

typedef struct {
    int nodes;
    int mine;
    int first;
    float *have;
    float *next;
    float *link;
} plan;

static float *table(size_t count)
{
    float *p = aligned_alloc(64, (count * sizeof *p + 63) / 64 * 64);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

static inline float toll(uint32_t stage, uint32_t from, uint32_t to)
{
    uint32_t h = stage * 0x85ebca6bU + from * 0x9e3779b1U + to * 0x27d4eb2fU;
    h ^= h >> 15;
    h *= 0x2c1b3c6dU;
    h ^= h >> 13;
    return (float)(int32_t)(h >> 9) * (1.0f / 8388608.0f);
}

static void lay_links(plan *p, int stage)
{
    for (int j = 0; j < p->nodes; j += COLS)
        for (int k = 0; k < p->nodes; k++) {
            float *out = p->link + (size_t)j * p->nodes + (size_t)k * COLS;
            for (int c = 0; c < COLS; c++)
                out[c] = toll((uint32_t)stage, (uint32_t)k, (uint32_t)(j + c));
        }
}

static void set_up(plan *p, int nodes)
{
    int rank, size, unit = nodes / ROWS;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    p->nodes = nodes;
    p->first = unit * rank / size * ROWS;
    p->mine = unit * (rank + 1) / size * ROWS - p->first;
    p->have = table((size_t)p->mine * nodes);
    p->next = table((size_t)p->mine * nodes);
    p->link = table((size_t)nodes * nodes);
    for (int i = 0; i < p->mine; i++)
        for (int j = 0; j < nodes; j++)
            p->have[(size_t)i * nodes + j] = toll(0, (uint32_t)(p->first + i), (uint32_t)j);
}

#define EACH(M) M(0) M(1) M(2) M(3) M(4)
#define FETCH(r)                                                                    \
    __m256i l##r = fresh ? far : _mm256_loadu_si256((__m256i *)(c + (size_t)r * n)); \
    __m256i h##r = fresh ? far : _mm256_loadu_si256((__m256i *)(c + (size_t)r * n + 8));
#define LESSER(d, t) __asm__("vpminsd %1, %0, %0" : "+x"(d) : "x"(t))
#define RELAX(r)                                                                    \
    v = _mm256_broadcast_ss(a + r);                                                 \
    LESSER(l##r, _mm256_add_ps(v, left));                                           \
    LESSER(h##r, _mm256_add_ps(v, right));
#define STORE(r)                                                                    \
    _mm256_storeu_si256((__m256i *)(c + (size_t)r * n), l##r);                      \
    _mm256_storeu_si256((__m256i *)(c + (size_t)r * n + 8), h##r);

static void tile(const float *a, const float *b, float *c, int n, int depth, int fresh)
{
    const __m256i far = _mm256_castps_si256(_mm256_set1_ps(1e30f));
    EACH(FETCH)
    do {
        __m256 left = _mm256_load_ps(b);
        __m256 right = _mm256_load_ps(b + 8);
        __m256 v;
        __asm__("" : "+x"(left), "+x"(right));
        EACH(RELAX)
        a += ROWS;
        b += COLS;
    } while (--depth);
    EACH(STORE)
}

static void pack(const plan *p, int band, int stop, int k, int depth, float *out)
{
    for (int i = band; i < stop; i += ROWS)
        for (int d = 0; d < depth; d++)
            for (int r = 0; r < ROWS; r++)
                *out++ = p->have[(size_t)(i + r) * p->nodes + k + d];
}

static void extend(plan *p)
{
    static float side[BAND * DEPTH];
    int n = p->nodes;
    for (int k = 0; k < n; k += DEPTH) {
        int depth = n - k < DEPTH ? n - k : DEPTH;
        for (int band = 0; band < p->mine; band += BAND) {
            int stop = band + BAND < p->mine ? band + BAND : p->mine;
            pack(p, band, stop, k, depth, side);
            for (int j = 0; j < n; j += COLS) {
                const float *b = p->link + (size_t)j * n + (size_t)k * COLS;
                for (int i = band; i < stop; i += ROWS)
                    tile(side + (i - band) * depth, b, p->next + (size_t)i * n + j, n, depth, k == 0);
            }
        }
    }
    float *swap = p->have;
    p->have = p->next;
    p->next = swap;
}

static void outcome(const plan *p, float *worst, double *sum)
{
    float high = 0.0f;
    double s = 0.0;
    for (int i = 0; i < p->mine; i++) {
        float line = 0.0f;
        for (int j = 0; j < p->nodes; j++) {
            float v = p->have[(size_t)i * p->nodes + j];
            high = v > high ? v : high;
            line += v;
        }
        s += line;
    }
    MPI_Reduce(&high, worst, 1, MPI_FLOAT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&s, sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    plan p;
    int rank;
    float worst = 0.0f;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    int nodes = (argc > 1 ? atoi(argv[1]) : 1920) / (ROWS * COLS) * (ROWS * COLS);
    int stages = argc > 2 ? atoi(argv[2]) : 18;
    set_up(&p, nodes);
    for (int s = 1; s <= stages; s++) {
        lay_links(&p, s);
        extend(&p);
    }
    outcome(&p, &worst, &sum);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("worst %.6f\nmean  %.9f\n", worst, sum / nodes / nodes);
    MPI_Finalize();
    return 0;
}
