/* Epoch folding of photon arrival times: for every trial period the photons
 * are folded into a phase histogram, and chi-squared against a flat profile
 * is kept.  Phases are 32-bit turns, so wrapping is free. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINBITS = 6, BINS = 1 << BINBITS };

typedef struct {
    size_t n;
    uint32_t *tick;             /* arrival times in clock ticks of 64 us */
} Photons;

typedef struct {
    double chi2;
    long trial;
} Peak;

static uint64_t rng = 88172645463325252ull;
static double uniform(void)
{
    rng ^= rng << 7;
    rng ^= rng >> 9;
    return (double)(rng >> 11) / 9007199254740992.0;
}

static Photons observe(size_t n, double period, double pulsed)
{
    Photons p = {n, aligned_alloc(64, n * sizeof(uint32_t))};
    if (!p.tick) exit(1);
    double t = 0;
    for (size_t i = 0; i < n; i++) {
        t += -60.0 * log(1.0 - uniform());
        double u = t;
        if (uniform() < pulsed) {
            double ph = 0.35 + 0.06 * (uniform() + uniform() - 1.0);
            u = (floor(t / period) + ph) * period;
        }
        p.tick[i] = (uint32_t)u;
    }
    return p;
}

/* Folds the photons; four partial histograms keep the increments of
 * neighbouring photons independent of each other. */
static void fold(const uint32_t *restrict tick, size_t n, uint64_t rate,
                 uint32_t h[restrict 4][BINS])
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint32_t b0 = (uint32_t)(tick[i] * rate >> 16) >> (32 - BINBITS);
        uint32_t b1 = (uint32_t)(tick[i + 1] * rate >> 16) >> (32 - BINBITS);
        uint32_t b2 = (uint32_t)(tick[i + 2] * rate >> 16) >> (32 - BINBITS);
        uint32_t b3 = (uint32_t)(tick[i + 3] * rate >> 16) >> (32 - BINBITS);
        h[0][b0]++;
        h[1][b1]++;
        h[2][b2]++;
        h[3][b3]++;
    }
    for (; i < n; i++)
        h[0][(uint32_t)(tick[i] * rate >> 16) >> (32 - BINBITS)]++;
}

static double chi_squared(uint32_t h[4][BINS], size_t n)
{
    const double mean = (double)n / BINS;
    double s = 0;
    for (int b = 0; b < BINS; b++) {
        double d = (double)h[0][b] + h[1][b] + h[2][b] + h[3][b] - mean;
        s += d * d;
    }
    return s / mean;
}

int main(void)
{
    const size_t nphot = 150000;
    const long trials = 100000;
    const double p0 = 1520.0, dp = 1.2e-4, truth = 1523.4567;
    Photons ph = observe(nphot, truth, 0.05);
    Peak best = {0, -1};
    double *stat = malloc(trials * sizeof *stat);

    #pragma omp parallel
    {
        uint32_t h[4][BINS] __attribute__((aligned(64)));
        Peak mine = {0, -1};
        #pragma omp for schedule(dynamic, 50) nowait
        for (long k = 0; k < trials; k++) {
            const uint64_t rate = (uint64_t)(281474976710656.0 / (p0 + dp * k) + 0.5);
            for (int q = 0; q < 4; q++)
                for (int b = 0; b < BINS; b++)
                    h[q][b] = 0;
            fold(ph.tick, ph.n, rate, h);
            stat[k] = chi_squared(h, ph.n);
            if (stat[k] > mine.chi2) {
                mine.chi2 = stat[k];
                mine.trial = k;
            }
        }
        #pragma omp critical
        if (mine.chi2 > best.chi2 || (mine.chi2 == best.chi2 && mine.trial < best.trial))
            best = mine;
    }

    double mean = 0;
    for (long k = 0; k < trials; k++)
        mean += stat[k];
    mean /= trials;
    printf("photons %zu, trials %ld, mean chi2 %.3f\n", ph.n, trials, mean);
    printf("best period %.5f ticks, chi2 %.3f\n", p0 + dp * best.trial, best.chi2);
    free(stat);
    free(ph.tick);
    return 0;
}
