/* Monte Carlo light transport in a layered tissue slab.
 * Scores absorbed weight on an (r, z) grid, plus reflectance and transmittance. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NR 40
#define NZ 60
#define UNIT 16777216.0 /* weights are scored in fixed point */

struct layer {
    double top, bottom, mua, mus, g;
};

static const struct layer skin[] = {
    {0.00, 0.01, 1.8, 180.0, 0.70},
    {0.01, 0.20, 0.9, 90.0, 0.68},
    {0.20, 0.60, 0.4, 60.0, 0.75},
};
enum { NLAYER = sizeof skin / sizeof *skin };

struct tally {
    int64_t absorbed[NZ][NR];
    int64_t reflected, transmitted;
};
static struct tally score;
static pthread_mutex_t score_lock = PTHREAD_MUTEX_INITIALIZER;

static const double dr = 0.01, dz = 0.01;

static inline uint64_t mix(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static inline float uniform(uint64_t *s) { return ((mix(s) >> 40) + 0.5f) * (1.0f / 16777216.0f); }

static void absorb(struct tally *own, double x, double y, double z, double w)
{
    int ir = (int)(sqrt(x * x + y * y) / dr), iz = (int)(z / dz);
    if (ir >= NR) ir = NR - 1;
    if (iz >= NZ) iz = NZ - 1;
    own->absorbed[iz][ir] += (int64_t)(w * UNIT);
}

static void leave(struct tally *own, double z, double w)
{
    if (z <= 0)
        own->reflected += (int64_t)(w * UNIT);
    else
        own->transmitted += (int64_t)(w * UNIT);
}

static void scatter(float u[3], float g, uint64_t *rng)
{
    float t = (1 - g * g) / (1 - g + 2 * g * uniform(rng));
    float ct = (1 + g * g - t * t) / (2 * g), st = sqrtf(fmaxf(0.f, 1 - ct * ct));
    float a, b, q; /* a random direction in the unit disc */
    do {
        a = 2 * uniform(rng) - 1;
        b = 2 * uniform(rng) - 1;
        q = a * a + b * b;
    } while (q > 1 || q < 1e-8f);
    q = 1 / sqrtf(q);
    float cp = a * q, sp = b * q;
    if (fabsf(u[2]) > 0.9999f) {
        u[0] = st * cp, u[1] = st * sp, u[2] = u[2] > 0 ? ct : -ct;
        return;
    }
    float k = sqrtf(1 - u[2] * u[2]), x = u[0], y = u[1], z = u[2];
    u[0] = st * (x * z * cp - y * sp) / k + x * ct;
    u[1] = st * (y * z * cp + x * sp) / k + y * ct;
    u[2] = -st * cp * k + z * ct;
}

static void launch(struct tally *own, uint64_t id)
{
    uint64_t rng = id * 0xd1342543de82ef95ULL + 7;
    double x = 0, y = 0, z = 0, w = 1;
    float u[3] = {0, 0, 1};
    int l = 0;
    float left = -logf(uniform(&rng)); /* optical path still to go */
    for (;;) {
        double mut = skin[l].mua + skin[l].mus, s = left / mut;
        double edge = u[2] > 0 ? skin[l].bottom : skin[l].top;
        double to_edge = u[2] != 0 ? (edge - z) / u[2] : 1e9;
        if (s >= to_edge) {
            x += u[0] * to_edge, y += u[1] * to_edge, z = edge;
            left -= to_edge * mut;
            l += u[2] > 0 ? 1 : -1;
            if (l < 0 || l >= NLAYER) {
                leave(own, l < 0 ? 0.0 : z, w);
                return;
            }
            continue;
        }
        x += u[0] * s, y += u[1] * s, z += u[2] * s;
        double lost = w * skin[l].mua / mut;
        w -= lost;
        absorb(own, x, y, z, lost);
        if (w < 1e-3) {
            if (uniform(&rng) > 0.1f) return;
            w *= 10;
        }
        scatter(u, skin[l].g, &rng);
        left = -logf(uniform(&rng));
    }
}

struct range {
    uint64_t first, last;
};

static void *beam(void *arg)
{
    struct range *r = arg;
    struct tally *own = calloc(1, sizeof *own);
    for (uint64_t i = r->first; i < r->last; i++)
        launch(own, i);
    pthread_mutex_lock(&score_lock);
    for (int iz = 0; iz < NZ; iz++)
        for (int ir = 0; ir < NR; ir++)
            score.absorbed[iz][ir] += own->absorbed[iz][ir];
    score.reflected += own->reflected;
    score.transmitted += own->transmitted;
    pthread_mutex_unlock(&score_lock);
    free(own);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], 0, 10) : 200000;
    int nt = argc > 2 ? atoi(argv[2]) : 2;
    pthread_t th[nt];
    struct range r[nt];
    for (int t = 0; t < nt; t++) {
        r[t].first = n * t / nt;
        r[t].last = n * (t + 1) / nt;
        pthread_create(&th[t], NULL, beam, &r[t]);
    }
    for (int t = 0; t < nt; t++)
        pthread_join(th[t], NULL);

    printf("photons %llu  Rd %.6f  Tt %.6f\n", (unsigned long long)n, score.reflected / UNIT / n,
           score.transmitted / UNIT / n);
    for (int iz = 0; iz < NZ; iz += 6) {
        int64_t a = 0;
        for (int ir = 0; ir < NR; ir++)
            a += score.absorbed[iz][ir];
        printf("z %.2f  absorbed per cm %.6f\n", (iz + 0.5) * dz, a / UNIT / n / dz);
    }
    return 0;
}
