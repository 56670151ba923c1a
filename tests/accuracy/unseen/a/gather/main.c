#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int traces;
    int samples;
    double dt;
    double *data;
    double *offset;
    double *weight;
} gather;

static double uniform(unsigned long long *s)
{
    *s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*s >> 40) / 16777216.0;
}

static inline double *amp(const gather *g, int trace, int sample)
{
    return &g->data[(size_t)trace * g->samples + sample];
}

static gather *gather_create(int traces, int samples, unsigned long long seed)
{
    gather *g = malloc(sizeof *g);
    g->traces = traces;
    g->samples = samples;
    g->dt = 0.002;
    g->data = malloc(sizeof(double) * traces * samples);
    g->offset = malloc(sizeof(double) * traces);
    g->weight = malloc(sizeof(double) * traces);
    for (int t = 0; t < traces; t++) {
        g->offset[t] = 25.0 * t;
        g->weight[t] = 1.0;
        for (int s = 0; s < samples; s++)
            *amp(g, t, s) = uniform(&seed) - 0.5;
    }
    return g;
}

static void add_reflection(gather *g, double t0, double velocity, double strength)
{
    for (int t = 0; t < g->traces; t++) {
        double x = g->offset[t] / velocity;
        int s = (int)(sqrt(t0 * t0 + x * x) / g->dt);
        for (int k = -8; k <= 8; k++) {
            double u = k / 4.0;
            if (s + k >= 0 && s + k < g->samples)
                *amp(g, t, s + k) += strength * (1.0 - 2.0 * u * u) * exp(-u * u);
        }
    }
}

static void stack(const gather *g, double *trace)
{
    for (int s = 0; s < g->samples; s++) {
        trace[s] = 0.0;
        for (int t = 0; t < g->traces; t++)
            trace[s] += g->weight[t] * *amp(g, t, s);
    }
}

static double reweight(gather *g, const double *trace)
{
    double total = 0.0;
    for (int t = 0; t < g->traces; t++) {
        double dot = 0.0, norm = 0.0;
        for (int s = 0; s < g->samples; s++) {
            double a = *amp(g, t, s);
            dot += a * trace[s];
            norm += a * a;
        }
        g->weight[t] = 0.5 * g->weight[t] + 0.5 * fabs(dot) / norm;
        total += g->weight[t];
    }
    for (int t = 0; t < g->traces; t++)
        g->weight[t] *= g->traces / total;
    return total;
}

static double energy(const double *trace, int n)
{
    double e = 0.0;
    for (int s = 0; s < n; s++)
        e += trace[s] * trace[s];
    return e;
}

int main(int argc, char **argv)
{
    int traces = argc > 1 ? atoi(argv[1]) : 1200;
    int samples = argc > 2 ? atoi(argv[2]) : 4096;
    int rounds = argc > 3 ? atoi(argv[3]) : 20;
    gather *g = gather_create(traces, samples, 2024ULL);
    double *trace = malloc(sizeof(double) * samples);
    add_reflection(g, 0.8, 1800.0, 2.0);
    add_reflection(g, 1.7, 2400.0, 1.2);
    add_reflection(g, 3.1, 3200.0, 0.7);
    for (int r = 0; r < rounds; r++) {
        stack(g, trace);
        double total = reweight(g, trace);
        if (r % 5 == 4)
            printf("round %d energy %.8e total %.8e\n", r + 1, energy(trace, samples), total);
    }
    free(trace);
    free(g->data);
    free(g->offset);
    free(g->weight);
    free(g);
    return 0;
}
