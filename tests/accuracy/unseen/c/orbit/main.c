#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LANES 32

typedef struct {
    double x[LANES], y[LANES], z[LANES];
} __attribute__((aligned(64))) Pack;

typedef struct {
    double sigma, rho, beta;
} Model;

static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static double unit(uint64_t k)
{
    return (mix(k) >> 11) * (1.0 / 9007199254740992.0);
}

static void seed_pack(Pack *p, int first)
{
    for (int l = 0; l < LANES; l++) {
        uint64_t id = (uint64_t)(first + l) * 3;
        p->x[l] = 1.0 + 0.1 * unit(id);
        p->y[l] = 1.0 + 0.1 * unit(id + 1);
        p->z[l] = 20.0 + unit(id + 2);
    }
}

static inline void rk4(Pack *restrict p, Model m, double h)
{
    double h2 = 0.5 * h, h6 = h / 6.0, h3 = h / 3.0;
#pragma omp simd aligned(p : 64)
    for (int l = 0; l < LANES; l++) {
        double x = p->x[l], y = p->y[l], z = p->z[l];
        double ax = m.sigma * (y - x);
        double ay = x * (m.rho - z) - y;
        double az = x * y - m.beta * z;
        double sx = x + h6 * ax, sy = y + h6 * ay, sz = z + h6 * az;
        double u = x + h2 * ax, v = y + h2 * ay, w = z + h2 * az;
        ax = m.sigma * (v - u);
        ay = u * (m.rho - w) - v;
        az = u * v - m.beta * w;
        sx += h3 * ax;
        sy += h3 * ay;
        sz += h3 * az;
        u = x + h2 * ax;
        v = y + h2 * ay;
        w = z + h2 * az;
        ax = m.sigma * (v - u);
        ay = u * (m.rho - w) - v;
        az = u * v - m.beta * w;
        sx += h3 * ax;
        sy += h3 * ay;
        sz += h3 * az;
        u = x + h * ax;
        v = y + h * ay;
        w = z + h * az;
        ax = m.sigma * (v - u);
        ay = u * (m.rho - w) - v;
        az = u * v - m.beta * w;
        p->x[l] = sx + h6 * ax;
        p->y[l] = sy + h6 * ay;
        p->z[l] = sz + h6 * az;
    }
}

static double pack_height(const Pack *p)
{
    double s = 0.0;
    for (int l = 0; l < LANES; l++)
        s += p->z[l];
    return s;
}

static void integrate(int packs, int steps, Model m, double h, double *height)
{
#pragma omp parallel for schedule(static)
    for (int k = 0; k < packs; k++) {
        Pack p;
        seed_pack(&p, k * LANES);
        for (int t = 0; t < steps; t++)
            rk4(&p, m, h);
        height[k] = pack_height(&p);
    }
}

int main(int argc, char **argv)
{
    int packs = argc > 1 ? atoi(argv[1]) : 64;
    int steps = argc > 2 ? atoi(argv[2]) : 10000;
    Model m = {10.0, 28.0, 8.0 / 3.0};
    double *height = malloc(sizeof(double) * packs);
    integrate(packs, steps, m, 0.002, height);
    double sum = 0.0, low = INFINITY, high = 0.0;
    for (int k = 0; k < packs; k++) {
        sum += height[k];
        low = fmin(low, height[k] / LANES);
        high = fmax(high, height[k] / LANES);
    }
    printf("members %d mean height %.9f range %.9f %.9f\n", packs * LANES,
           sum / (packs * LANES), low, high);
    free(height);
    return 0;
}
