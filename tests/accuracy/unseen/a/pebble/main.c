#include <immintrin.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ATOMS = 24, CONFORMERS = 32 };

typedef struct {
    float x, y, z, k;
} ball;

typedef struct {
    __m256 x, y, z;
} place;

static float draw(uint64_t *s)
{
    *s = *s * 6364136223846793005ull + 1442695040888963407ull;
    return (float)(*s >> 40) * 0x1p-24f;
}

static void fold(ball *b, int conformer)
{
    uint64_t s = 500 + (uint64_t)conformer;
    for (int i = 0; i < ATOMS; i++) {
        float x = 1.2f + 0.6f * draw(&s);
        float y = 1.2f + 0.6f * draw(&s);
        float z = 1.2f + 0.6f * draw(&s);
        float r = 0.08f + 0.08f * draw(&s);
        b[i].x = 2.0f * x;
        b[i].y = 2.0f * y;
        b[i].z = 2.0f * z;
        b[i].k = r * r - x * x - y * y - z * z;
    }
}

static inline __m256 uniform(__m256i *s)
{
    __m256i v = *s;
    v = _mm256_xor_si256(v, _mm256_slli_epi32(v, 13));
    v = _mm256_xor_si256(v, _mm256_srli_epi32(v, 17));
    v = _mm256_xor_si256(v, _mm256_slli_epi32(v, 5));
    *s = v;
    return _mm256_castsi256_ps(_mm256_or_si256(_mm256_srli_epi32(v, 9), _mm256_set1_epi32(0x3f800000)));
}

static inline place pick(__m256i *s)
{
    place p;
    p.x = uniform(s);
    p.y = uniform(s);
    p.z = uniform(s);
    return p;
}

static inline __m256 power(place p, __m256 x, __m256 y, __m256 z, __m256 k)
{
    return _mm256_fmadd_ps(p.x, x, _mm256_fmadd_ps(p.y, y, _mm256_fmadd_ps(p.z, z, k)));
}

static inline int inside(place p, __m256 best)
{
    __m256 r2 = _mm256_fmadd_ps(p.x, p.x, _mm256_fmadd_ps(p.y, p.y, _mm256_mul_ps(p.z, p.z)));
    return __builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_cmp_ps(r2, best, _CMP_LE_OQ)));
}

static int64_t sample(const ball *b, __m256i *state, int64_t rounds)
{
    __m256i s0 = state[0], s1 = state[1], s2 = state[2];
    int64_t hits = 0;
    for (int64_t i = 0; i < rounds; i++) {
        place p = pick(&s0), q = pick(&s1), t = pick(&s2);
        __m256 bp = _mm256_set1_ps(-1e9f), bq = bp, bt = bp;
        for (int a = 0; a < ATOMS; a++) {
            __m256 x = _mm256_broadcast_ss(&b[a].x), y = _mm256_broadcast_ss(&b[a].y);
            __m256 z = _mm256_broadcast_ss(&b[a].z), k = _mm256_broadcast_ss(&b[a].k);
            bp = _mm256_max_ps(bp, power(p, x, y, z, k));
            bq = _mm256_max_ps(bq, power(q, x, y, z, k));
            bt = _mm256_max_ps(bt, power(t, x, y, z, k));
        }
        hits += inside(p, bp) + inside(q, bq) + inside(t, bt);
    }
    state[0] = s0;
    state[1] = s1;
    state[2] = s2;
    return hits;
}

static void seed(__m256i *state, int rank)
{
    uint64_t s = 12345 + 777 * (uint64_t)rank;
    for (int v = 0; v < 3; v++) {
        uint32_t lane[8];
        for (int i = 0; i < 8; i++) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            lane[i] = (uint32_t)(s >> 32) | 1u;
        }
        state[v] = _mm256_loadu_si256((const __m256i *)lane);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int64_t rounds = argc > 1 ? atoll(argv[1]) : 1000000;
    int64_t hits[CONFORMERS], all[CONFORMERS];
    ball b[ATOMS];
    __m256i state[3];
    seed(state, rank);
    for (int c = 0; c < CONFORMERS; c++) {
        fold(b, c);
        hits[c] = sample(b, state, rounds);
    }
    MPI_Reduce(hits, all, CONFORMERS, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        double points = 24.0 * (double)rounds * ranks, low = 1.0, high = 0.0, mean = 0.0;
        for (int c = 0; c < CONFORMERS; c++) {
            double v = (double)all[c] / points;
            low = v < low ? v : low;
            high = v > high ? v : high;
            mean += v / CONFORMERS;
        }
        printf("volume mean %.8f low %.8f high %.8f\n", mean, low, high);
    }
    MPI_Finalize();
    return 0;
}
