/* One very long stellar orbit in the Henon-Heiles potential, kick-drift scheme,
 * surface of section x = 0, px > 0.  Positions are kept in units of 1/h^2 and
 * momenta in units of 1/h^3, so that one step has no factor h left.  */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct orbit { double x, y, p, q; };

struct section {
    FILE *out;
    long n;
    double ymin, ymax, pmin, pmax;
    long cell[64][64];
};

static void cross(struct section *s, const struct orbit *old, const struct orbit *now, double k, double h)
{
    double f = old->x / (old->x - now->x);
    double rec[2];
    rec[0] = (old->y + f * (now->y - old->y)) / k;
    rec[1] = (old->q + f * (now->q - old->q)) / (k * h);
    fwrite(rec, sizeof rec, 1, s->out);
    s->n++;
    if (rec[0] < s->ymin) s->ymin = rec[0];
    if (rec[0] > s->ymax) s->ymax = rec[0];
    if (rec[1] < s->pmin) s->pmin = rec[1];
    if (rec[1] > s->pmax) s->pmax = rec[1];
    int i = (int)((rec[0] + 1.0) * 32), j = (int)((rec[1] + 1.0) * 32);
    if (i >= 0 && i < 64 && j >= 0 && j < 64) s->cell[i][j]++;
}

static double energy(const struct orbit *o, double k, double h)
{
    double x = o->x / k, y = o->y / k, p = o->p / (k * h), q = o->q / (k * h);
    return 0.5 * (p * p + q * q + x * x + y * y) + x * x * y - y * y * y / 3.0;
}

static void follow(struct orbit *o, long steps, double k, double h, struct section *s)
{
    double x = o->x, y = o->y, p = o->p, q = o->q;
    const double one_k = 1.0 - k;
    for (long n = 0; n < steps; n++) {
        const double u = k + (y + y);
        const double m = y - x, w = y + x;
        const double sx = x + p;
        const double r = one_k * y + q, rq = q - k * y;
        const double xn = sx - u * x;
        const double yn = r + m * w;
        const double pn = p - u * x;
        const double qn = rq + m * w;
        if (__builtin_expect(x < 0.0 && xn >= 0.0, 0)) {
            struct orbit a = {x, y, p, q}, b = {xn, yn, pn, qn};
            cross(s, &a, &b, k, h);
        }
        x = xn;
        y = yn;
        p = pn;
        q = qn;
    }
    o->x = x;
    o->y = y;
    o->p = p;
    o->q = q;
}

int main(int argc, char **argv)
{
    double h = 0.004, e = argc > 1 ? atof(argv[1]) : 0.14;
    long steps = argc > 2 ? atol(argv[2]) : 1200000000L;
    double k = h * h, y0 = 0.1, q0 = 0.05;
    double p0 = sqrt(2 * e - q0 * q0 - y0 * y0 + 2.0 * y0 * y0 * y0 / 3.0);
    struct orbit o = {0.0, y0 * k, p0 * k * h, q0 * k * h};
    static struct section s = {.ymin = 9, .ymax = -9, .pmin = 9, .pmax = -9};
    s.out = fopen("section.bin", "wb");
    if (!s.out) return 1;
    const long leg = 1000000;
    double worst = 0;
    for (long done = 0; done < steps; done += leg) {
        follow(&o, leg, k, h, &s);
        double de = fabs(energy(&o, k, h) - e);
        if (de > worst) worst = de;
    }
    fclose(s.out);
    long filled = 0;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) filled += s.cell[i][j] > 0;
    printf("crossings %ld  cells %ld  y [%.4f %.4f]  py [%.4f %.4f]  dE %.2e\n", s.n, filled, s.ymin, s.ymax, s.pmin,
           s.pmax, worst);
    return 0;
}
