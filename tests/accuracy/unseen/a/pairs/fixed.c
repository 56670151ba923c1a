#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINS = 32 };

typedef struct {
    int count;
    double *x, *y, *z;
} patch;

static double uniform(unsigned long long *s)
{
    *s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*s >> 40) / 16777216.0;
}

static void patch_fill(patch *p, int count, unsigned long long seed)
{
    p->count = count;
    p->x = malloc(sizeof(double) * count);
    p->y = malloc(sizeof(double) * count);
    p->z = malloc(sizeof(double) * count);
    for (int i = 0; i < count; i++) {
        p->x[i] = uniform(&seed);
        p->y[i] = uniform(&seed);
        p->z[i] = uniform(&seed) * 0.3;
    }
}

static void patch_free(patch *p)
{
    free(p->x);
    free(p->y);
    free(p->z);
}

static patch *survey_create(int patches, int mean)
{
    patch *list = malloc(sizeof(patch) * patches);
    unsigned long long seed = 99;
    for (int k = 0; k < patches; k++) {
        int count = (int)(mean * (0.7 + 0.6 * uniform(&seed)));
        patch_fill(&list[k], count, 1000ULL + k);
    }
    return list;
}

static void count_pairs(const patch *p, double reach, long *hist)
{
    double limit = reach * reach;
    double scale = BINS / reach;
    for (int i = 0; i < p->count; i++) {
        for (int j = i + 1; j < p->count; j++) {
            double dx = p->x[i] - p->x[j];
            double dy = p->y[i] - p->y[j];
            double dz = p->z[i] - p->z[j];
            double r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < limit)
                hist[(int)(sqrt(r2) * scale)]++;
        }
    }
}

static void correlate(const patch *list, int patches, double reach, long *hist)
{
#pragma omp parallel
    {
        long mine[BINS + 1] = {0};
#pragma omp for schedule(dynamic, 2)
        for (int k = 0; k < patches; k++)
            count_pairs(&list[k], reach, mine);
#pragma omp critical
        for (int b = 0; b < BINS; b++)
            hist[b] += mine[b];
    }
}

static long expected_pairs(const patch *list, int patches)
{
    long total = 0;
    for (int k = 0; k < patches; k++)
        total += (long)list[k].count * (list[k].count - 1) / 2;
    return total;
}

int main(int argc, char **argv)
{
    int patches = argc > 1 ? atoi(argv[1]) : 300;
    int mean = argc > 2 ? atoi(argv[2]) : 2000;
    double reach = argc > 3 ? atof(argv[3]) : 0.25;
    long hist[BINS + 1] = {0};
    patch *list = survey_create(patches, mean);
    correlate(list, patches, reach, hist);
    long total = expected_pairs(list, patches);
    for (int b = 0; b < BINS; b += 4)
        printf("bin %2d r %.4f pairs %ld fraction %.6e\n", b, (b + 0.5) * reach / BINS,
               hist[b], (double)hist[b] / total);
    for (int k = 0; k < patches; k++)
        patch_free(&list[k]);
    free(list);
    return 0;
}
