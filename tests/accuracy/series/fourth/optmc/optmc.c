/* Asian and barrier options by Monte Carlo, Heston volatility */
#include <stdio.h>
#include <stdint.h>
#include <math.h>
#define STEPS 64
#define PATHS 450000
#define BLOCK 500

struct model { double s0, r, v0, kappa, theta, xi, rho, T; };
struct payoff { double asian, barrier, square; };

static inline uint64_t mix(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

__attribute__((noinline)) void gauss_pair(uint64_t *s, double *a, double *b) {
    double u = ((mix(s) >> 11) + 1) * (1.0 / 9007199254740993.0), w = (mix(s) >> 11) * (1.0 / 9007199254740992.0);
    double r = sqrt(-2.0 * log(u));
    *a = r * cos(2 * M_PI * w);
    *b = r * sin(2 * M_PI * w);
}

__attribute__((noinline)) struct payoff walk(const struct model *m, double strike, double level, uint64_t id) {
    uint64_t s = id * 0xD1342543DE82EF95ULL + 17;
    double dt = m->T / STEPS, x = log(m->s0), v = m->v0, sum = 0, top = 0;
    for (int k = 0; k < STEPS; k++) {
        double z1, z2;
        gauss_pair(&s, &z1, &z2);
        double vp = v > 0 ? v : 0, sv = sqrt(vp * dt);
        x += (m->r - 0.5 * vp) * dt + sv * z1;
        v += m->kappa * (m->theta - vp) * dt + m->xi * sv * (m->rho * z1 + sqrt(1 - m->rho * m->rho) * z2);
        double p = exp(x);
        sum += p;
        if (p > top) top = p;
    }
    double df = exp(-m->r * m->T), avg = sum / STEPS, last = exp(x);
    struct payoff q;
    q.asian = df * fmax(avg - strike, 0);
    q.barrier = top < level ? df * fmax(last - strike, 0) : 0;
    q.square = q.asian * q.asian;
    return q;
}

__attribute__((noinline)) struct payoff price_block(const struct model *m, double strike, double level, long first) {
    struct payoff a = {0, 0, 0};
    for (long i = first; i < first + BLOCK; i++) {
        struct payoff q = walk(m, strike, level, i);
        a.asian += q.asian;
        a.barrier += q.barrier;
        a.square += q.square;
    }
    return a;
}

int main(void) {
    struct model m = {100, 0.03, 0.04, 1.5, 0.05, 0.4, -0.6, 1.0};
    double asian = 0, barrier = 0, square = 0;
#pragma omp parallel for reduction(+ : asian, barrier, square) schedule(static)
    for (int b = 0; b < PATHS / BLOCK; b++) {
        struct payoff q = price_block(&m, 102.0, 140.0, (long)b * BLOCK);
        asian += q.asian;
        barrier += q.barrier;
        square += q.square;
    }
    asian /= PATHS;
    printf("asian %.6f +- %.6f   up-and-out %.6f\n", asian, sqrt((square / PATHS - asian * asian) / PATHS), barrier / PATHS);
    return 0;
}
