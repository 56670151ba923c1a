#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DAYS_PER_YEAR = 365 };

typedef struct {
    size_t capacity;
    double *level;
    unsigned char *quality;
    double seasonal[DAYS_PER_YEAR];
} station;

static unsigned int next_random(unsigned int *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static station *station_create(int years, unsigned int seed)
{
    station *s = malloc(sizeof *s);
    s->capacity = (size_t)years * DAYS_PER_YEAR + 64;
    s->level = malloc(sizeof(double) * s->capacity);
    s->quality = malloc(s->capacity);
    for (size_t i = 0; i < s->capacity; i++) {
        double noise = next_random(&seed) / 16777216.0 - 0.5;
        double phase = 2.0 * M_PI * (i % DAYS_PER_YEAR) / DAYS_PER_YEAR;
        s->level[i] = 3.0 + 1.2 * cos(phase) + 0.4 * noise;
        s->quality[i] = (next_random(&seed) % 50 == 0) ? 2 : 1;
    }
    for (size_t i = (size_t)years * DAYS_PER_YEAR; i < s->capacity; i++)
        s->quality[i] = 0;
    return s;
}

static void station_free(station *s)
{
    free(s->level);
    free(s->quality);
    free(s);
}

static int record_length(const station *s)
{
    int n = 0;
    while ((size_t)n < s->capacity && s->quality[n] != 0)
        n++;
    return n;
}

static void fit_season(station *s)
{
    int count[DAYS_PER_YEAR] = {0};
    int n = record_length(s);
    for (int d = 0; d < DAYS_PER_YEAR; d++)
        s->seasonal[d] = 0.0;
    for (int i = 0; i < n; i++) {
        if (s->quality[i] == 1) {
            s->seasonal[i % DAYS_PER_YEAR] += s->level[i];
            count[i % DAYS_PER_YEAR]++;
        }
    }
    for (int d = 0; d < DAYS_PER_YEAR; d++)
        if (count[d] > 0)
            s->seasonal[d] /= count[d];
}

static void remove_season(station *s)
{
    int n = record_length(s);
    for (int i = 0; i < n; i++) {
        if (s->quality[i] == 1)
            s->level[i] -= s->seasonal[i % DAYS_PER_YEAR];
        else
            s->level[i] = 0.0;
    }
}

static double lag_correlation(const station *s, int n, int lag)
{
    double sum = 0.0, norm = 0.0;
    for (int i = 0; i + lag < n; i++) {
        sum += s->level[i] * s->level[i + lag];
        norm += s->level[i] * s->level[i];
    }
    return norm > 0.0 ? sum / norm : 0.0;
}

static double memory_index(const station *s, int max_lag)
{
    int n = record_length(s);
    double total = 0.0;
    for (int lag = 1; lag <= max_lag; lag++)
        total += fabs(lag_correlation(s, n, lag));
    return total;
}

int main(int argc, char **argv)
{
    int stations = argc > 1 ? atoi(argv[1]) : 4;
    int years = argc > 2 ? atoi(argv[2]) : 80;
    int max_lag = argc > 3 ? atoi(argv[3]) : 400;
    double network = 0.0;
    for (int k = 0; k < stations; k++) {
        station *s = station_create(years, 17u + 101u * k);
        fit_season(s);
        remove_season(s);
        double index = memory_index(s, max_lag);
        printf("station %d days %d index %.6f\n", k, record_length(s), index);
        network += index;
        station_free(s);
    }
    printf("network %.6f\n", network / stations);
    return 0;
}
