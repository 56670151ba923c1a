#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BINS 48

static float *rain;
static long nobs;
static long bins[BINS];
static double depth[BINS];

static void read_gauges(void)
{
    long i;
    unsigned long s = 4211UL;
    for (i = 0; i < nobs; i++) {
        s = (s * 1103515245UL + 12345UL) & 0x7fffffffUL;
        rain[i] = (float) (s % 10000UL) * 0.0125f;
    }
}

static int category(float mm)
{
    int k = (int) (sqrtf(mm) * 4.2f);
    if (k < 0)
        k = 0;
    if (k >= BINS)
        k = BINS - 1;
    return k;
}

static void classify(double scale)
{
    long i;
#pragma omp parallel for
    for (i = 0; i < nobs; i++) {
        float mm = (float) (rain[i] * scale);
        int k = category(mm);
#pragma omp critical
        {
            bins[k]++;
            depth[k] += mm;
        }
    }
}

int main(int argc, char **argv)
{
    int season, seasons, k;
    double sum = 0.0;
    nobs = argc > 1 ? atol(argv[1]) : 2000000L;
    seasons = argc > 2 ? atoi(argv[2]) : 8;
    rain = (float *) malloc(nobs * sizeof(float));
    if (rain == NULL)
        return 1;
    read_gauges();
    for (season = 0; season < seasons; season++)
        classify(0.8 + 0.05 * season);
    for (k = 0; k < BINS; k++)
        sum += (double) bins[k] * (k + 1) + depth[k];
    printf("checksum %.6e\n", sum);
    free(rain);
    return 0;
}
