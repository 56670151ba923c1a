#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

typedef struct {
    int32_t id;
    int32_t region;
    int32_t height;
    int32_t readings;
    int64_t total;
    int32_t wettest;
    int32_t pad;
} Station;

typedef struct {
    Station *st;
    int n;
} Network;

typedef struct {
    int32_t id;
    int32_t hour;
    int32_t tenths;
} Reading;

#define REGIONS 8

static uint64_t state = 88172645463325252ULL;

static uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static void make_network(Network *net, int n)
{
    net->st = calloc((size_t)n, sizeof *net->st);
    net->n = n;
    for (int i = 0; i < n; i++) {
        net->st[i].id = 100000 + (int32_t)(((int64_t)i * 7919) % n) * 3;
        net->st[i].region = (int32_t)(draw() % REGIONS);
        net->st[i].height = (int32_t)(draw() % 2400);
    }
}

static Reading *make_readings(const Network *net, int m)
{
    Reading *r = malloc((size_t)m * sizeof *r);
    for (int i = 0; i < m; i++) {
        r[i].id = net->st[draw() % (uint32_t)net->n].id;
        r[i].hour = i % 24;
        r[i].tenths = (int32_t)(draw() % 400) - 150;
        if (draw() % 50 == 0)
            r[i].id += 1;
    }
    return r;
}

static Station *station_of(Network *net, int32_t id)
{
    int lo = 0, hi = net->n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (net->st[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < net->n && net->st[lo].id == id ? &net->st[lo] : NULL;
}

static int by_id(const void *a, const void *b)
{
    int32_t x = ((const Station *)a)->id, y = ((const Station *)b)->id;
    return (x > y) - (x < y);
}

static int32_t corrected(const Reading *r, const Station *s)
{
    int32_t v = r->tenths < 0 ? 0 : r->tenths;
    if (s->height > 1200 && (r->hour < 6 || r->hour > 20))
        v += v / 10;
    return v;
}

static int book(Network *net, const Reading *r, int m)
{
    int unknown = 0;
    for (int i = 0; i < m; i++) {
        Station *s = station_of(net, r[i].id);
        if (!s) {
            unknown++;
            continue;
        }
        int32_t v = corrected(&r[i], s);
        s->readings++;
        s->total += v;
        if (v > s->wettest)
            s->wettest = v;
    }
    return unknown;
}

static void report(const Network *net, int unknown)
{
    int64_t total[REGIONS] = {0};
    int64_t count[REGIONS] = {0};
    int32_t wettest[REGIONS] = {0};
    for (int i = 0; i < net->n; i++) {
        const Station *s = &net->st[i];
        total[s->region] += s->total;
        count[s->region] += s->readings;
        if (s->wettest > wettest[s->region])
            wettest[s->region] = s->wettest;
    }
    for (int k = 0; k < REGIONS; k++)
        printf("region %d: %lld readings, %.1f mm, wettest %.1f mm\n", k,
               (long long)count[k], (double)total[k] / 10.0, wettest[k] / 10.0);
    printf("unknown %d\n", unknown);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 12000;
    int m = argc > 2 ? atoi(argv[2]) : 200000;
    Network net;
    make_network(&net, n);
    Reading *r = make_readings(&net, m);
    qsort(net.st, (size_t)net.n, sizeof *net.st, by_id);
    int unknown = book(&net, r, m);
    report(&net, unknown);
    free(r);
    free(net.st);
    return 0;
}
