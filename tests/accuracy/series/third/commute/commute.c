/* SEIR epidemic among commuting persons; the town has districts of about equal population */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { S, E, I, R };

typedef struct {
    uint8_t state;
    int home, place;
    double age, since;
} person_t;

typedef struct {
    int count;
    double *attract;      /* workplace attraction, sums to 1 */
    double *infectious;
    double *present;
} town_t;

#define DAYS 120

static uint64_t s0 = 0x1234567, s1 = 0x9abcdef;
static inline double uni(void)
{
    uint64_t a = s0, b = s1;
    s0 = b;
    a ^= a << 23;
    s1 = a ^ b ^ (a >> 17) ^ (b >> 26);
    return (double)((s1 + b) >> 11) * 0x1.0p-53;
}

__attribute__((noinline)) int pick_district(const town_t *t)
{
    double r = uni();
    int d = 0;
    while (d < t->count - 1) {
        r -= t->attract[d];
        if (r < 0) break;
        d++;
    }
    return d;
}

__attribute__((noinline)) void move_people(person_t *p, long n, const town_t *t)
{
    for (long i = 0; i < n; i++)
        p[i].place = uni() < 0.75 ? pick_district(t) : p[i].home;
}

__attribute__((noinline)) void tally(const person_t *p, long n, town_t *t)
{
    for (int d = 0; d < t->count; d++) t->infectious[d] = t->present[d] = 0;
    for (long i = 0; i < n; i++) {
        t->present[p[i].place] += 1;
        if (p[i].state == I)
            t->infectious[p[i].place] += exp(-0.5 * pow((p[i].since - 3.0) / 2.0, 2));
    }
}

__attribute__((noinline)) void progress(person_t *p, long n, const town_t *t)
{
    for (long i = 0; i < n; i++) {
        person_t *q = &p[i];
        double force = t->infectious[q->place] / (t->present[q->place] + 1.0);
        double suscept = 0.6 + 0.4 * pow(q->age / 90.0, 1.3);
        double pinf = 1.0 - exp(-1.9 * force * suscept);
        double pstay = exp(-pow((q->since + 1.0) / 5.0, 1.8));
        q->since += 1.0;
        double u = uni();
        if (q->state == S) {
            if (u < pinf) { q->state = E; q->since = 0; }
        } else if (q->state == E) {
            if (u > pstay) { q->state = I; q->since = 0; }
        } else if (q->state == I) {
            if (u > pstay) q->state = R;
        }
    }
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10000;
    int days = argc > 2 ? atoi(argv[2]) : DAYS;
    town_t t;
    t.count = (int)(2 * sqrt((double)n));
    t.attract = malloc(t.count * sizeof(double));
    t.infectious = malloc(t.count * sizeof(double));
    t.present = malloc(t.count * sizeof(double));
    double sum = 0;
    for (int d = 0; d < t.count; d++) sum += t.attract[d] = 0.5 + uni();
    for (int d = 0; d < t.count; d++) t.attract[d] /= sum;
    person_t *p = malloc(n * sizeof *p);
    for (long i = 0; i < n; i++) {
        p[i].home = p[i].place = (int)(i % t.count);
        p[i].age = 90.0 * uni();
        p[i].since = 0;
        p[i].state = i % 200 == 0 ? I : S;
    }
    for (int day = 0; day < days; day++) {
        move_people(p, n, &t);
        tally(p, n, &t);
        progress(p, n, &t);
    }
    long c[4] = {0};
    for (long i = 0; i < n; i++) c[p[i].state]++;
    printf("S %ld E %ld I %ld R %ld\n", c[S], c[E], c[I], c[R]);
    return 0;
}
