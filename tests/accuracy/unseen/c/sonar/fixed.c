#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double depth;
    double temp;
    double salt;
    int levels;
} station_t;

typedef struct {
    double travel;
    double bend;
    double sound;
} cast_t;

static unsigned long hash(unsigned long x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185UL;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dUL;
    return x ^ (x >> 33);
}

static double frac(unsigned long x)
{
    return (double)(hash(x) >> 11) / 9007199254740992.0;
}

static int by_depth(const void *a, const void *b)
{
    const station_t *p = a, *q = b;
    return (p->depth > q->depth) - (p->depth < q->depth);
}

static station_t *read_survey(int n)
{
    station_t *s = malloc(n * sizeof *s);
    for (int i = 0; i < n; i++) {
        double u = frac(3UL * i + 1);
        s[i].depth = 20.0 + 5500.0 * u * u;
        s[i].temp = 4.0 + 16.0 * frac(3UL * i + 2);
        s[i].salt = 33.0 + 3.0 * frac(3UL * i + 3);
        s[i].levels = (int)(s[i].depth / 0.5);
    }
    qsort(s, n, sizeof *s, by_depth);
    return s;
}

static double sound_speed(double t, double s, double z)
{
    double c = 1449.2 + t * (4.6 + t * (-0.055 + t * 0.00029));
    return c + (1.34 - 0.01 * t) * (s - 35.0) + 0.016 * z;
}

static cast_t trace(const station_t *s, double angle)
{
    cast_t c = {0.0, 0.0, 0.0};
    double dz = s->depth / s->levels;
    double p = angle / sound_speed(s->temp, s->salt, 0.0);
    for (int k = 0; k < s->levels; k++) {
        double z = (k + 0.5) * dz;
        double t = 2.0 + (s->temp - 2.0) / (1.0 + z * 0.004);
        double v = sound_speed(t, s->salt, z);
        double sn = p * v;
        double cs = sqrt(1.0 - sn * sn);
        c.travel += dz / (v * cs);
        c.bend += dz * sn / cs;
        c.sound += v;
    }
    c.sound /= s->levels;
    return c;
}

static void sweep(const station_t *s, int n, double angle, cast_t *out)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int i = 0; i < n; i++)
        out[i] = trace(&s[i], angle);
}

static void summarise(const cast_t *c, int n, double angle)
{
    double tmax = 0.0, bend = 0.0, mean = 0.0;
    for (int i = 0; i < n; i++) {
        if (c[i].travel > tmax)
            tmax = c[i].travel;
        bend += c[i].bend;
        mean += c[i].sound;
    }
    printf("angle %.3f  longest %.6f s  drift %.3f m  speed %.3f m/s\n",
           angle, tmax, bend / n, mean / n);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 5000;
    station_t *survey = read_survey(n);
    cast_t *casts = malloc(n * sizeof *casts);
    for (int a = 0; a < 12; a++) {
        double angle = 0.05 + 0.05 * a;
        sweep(survey, n, angle, casts);
        summarise(casts, n, angle);
    }
    free(casts);
    free(survey);
    return 0;
}
