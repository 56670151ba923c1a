#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MR = 6, NR = 8, MC = 144, KC = 240 };

static double *matrix(size_t count)
{
    return aligned_alloc(64, count * sizeof(double));
}

static void fill(double *m, int n, unsigned long long s, double scale)
{
    for (size_t i = 0; i < (size_t)n * n; i++) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        m[i] = scale * ((double)(s >> 11) / 4503599627370496.0 - 1.0);
    }
}

static void pack_left(const double *a, int lda, double *restrict dst)
{
    for (int i = 0; i < MC; i += MR)
        for (int k = 0; k < KC; k++)
            for (int r = 0; r < MR; r++)
                *dst++ = a[(size_t)(i + r) * lda + k];
}

static void pack_right(const double *b, int ldb, int n, double *restrict dst)
{
    for (int j = 0; j < n; j += NR)
        for (int k = 0; k < KC; k++) {
            const double *row = b + (size_t)k * ldb + j;
            _mm256_store_pd(dst, _mm256_loadu_pd(row));
            _mm256_store_pd(dst + 4, _mm256_loadu_pd(row + 4));
            dst += NR;
        }
}

static inline void add_row(double *c, __m256d lo, __m256d hi)
{
    _mm256_storeu_pd(c, _mm256_add_pd(_mm256_loadu_pd(c), lo));
    _mm256_storeu_pd(c + 4, _mm256_add_pd(_mm256_loadu_pd(c + 4), hi));
}

#define ROW(r) \
    x = _mm256_broadcast_sd(a + r); \
    l##r = _mm256_fmadd_pd(x, b0, l##r); \
    h##r = _mm256_fmadd_pd(x, b1, h##r);

static void tile(const double *restrict a, const double *restrict b, double *restrict c, int ldc)
{
    __m256d x, b0, b1, z = _mm256_setzero_pd();
    __m256d l0 = z, l1 = z, l2 = z, l3 = z, l4 = z, l5 = z;
    __m256d h0 = z, h1 = z, h2 = z, h3 = z, h4 = z, h5 = z;
    for (int r = 0; r < MR; r++)
        _mm_prefetch((const char *)(c + (size_t)r * ldc), _MM_HINT_T0);
#pragma GCC unroll 4
    for (int k = 0; k < KC; k++) {
        b0 = _mm256_load_pd(b);
        b1 = _mm256_load_pd(b + 4);
        ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5)
        a += MR;
        b += NR;
    }
    add_row(c, l0, h0);
    add_row(c + (size_t)ldc, l1, h1);
    add_row(c + (size_t)ldc * 2, l2, h2);
    add_row(c + (size_t)ldc * 3, l3, h3);
    add_row(c + (size_t)ldc * 4, l4, h4);
    add_row(c + (size_t)ldc * 5, l5, h5);
}

static void product(const double *a, const double *b, double *c, int n, double *left, double *right)
{
    for (size_t i = 0; i < (size_t)n * n; i += 4)
        _mm256_store_pd(c + i, _mm256_setzero_pd());
    for (int k = 0; k < n; k += KC) {
        pack_right(b + (size_t)k * n, n, n, right);
        for (int i = 0; i < n; i += MC) {
            pack_left(a + (size_t)i * n + k, n, left);
            for (int j = 0; j < n; j += NR)
                for (int r = 0; r < MC; r += MR)
                    tile(left + (size_t)r * KC, right + (size_t)j * KC, c + (size_t)(i + r) * n + j, n);
        }
    }
}

static void tune(double *h, int n, double field)
{
    for (int i = 0; i < n; i++)
        h[(size_t)i * n + i] = field * (1.0 + 0.5 * i / n);
}

static double weight(const double *m, int n)
{
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < (size_t)n * n; i += 4)
        for (int l = 0; l < 4; l++)
            s[l] += m[i + l] * m[i + l];
    return sqrt(s[0] + s[1] + s[2] + s[3]);
}

int main(int argc, char **argv)
{
    int n = 720 * (argc > 1 ? atoi(argv[1]) : 2);
    int steps = argc > 2 ? atoi(argv[2]) : 14;
    size_t count = (size_t)n * n;
    double *h = matrix(count), *now = matrix(count), *next = matrix(count);
    double *left = matrix((size_t)MC * KC), *right = matrix((size_t)KC * n);
    fill(h, n, 17, 1.2 / sqrt(n));
    fill(now, n, 23, 1.0 / n);
    for (int s = 0; s < steps; s++) {
        tune(h, n, 0.4 + 0.05 * (s % 7));
        product(h, now, next, n, left, right);
        double *t = now;
        now = next;
        next = t;
    }
    printf("norm %.10f corner %.12e\n", weight(now, n), now[0]);
    return 0;
}
