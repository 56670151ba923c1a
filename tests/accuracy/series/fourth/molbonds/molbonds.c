/* Bond perception and simple force-field energy of a polymer melt of n beads */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

struct bond { int i, j; double r; struct bond *next; };
struct bondlist { struct bond *head; long count; };
struct cells { int m; double w; int *first, *next; };

static double uni(unsigned *s) { *s = *s * 1664525u + 1013904223u; return *s / 4294967296.0; }

__attribute__((noinline)) void place_beads(double *x, int n, double box) {
    unsigned s = 4711;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            if (i % 50 == 0) x[3 * i + d] = box * uni(&s);
            else x[3 * i + d] = x[3 * (i - 1) + d] + 1.1 * (uni(&s) - 0.5);
            x[3 * i + d] -= box * floor(x[3 * i + d] / box);
        }
}

__attribute__((noinline)) void fill_cells(struct cells *c, const double *x, int n, double box, double cut) {
    c->m = (int)(box / cut);
    if (c->m < 3) c->m = 3;
    c->w = box / c->m;
    int nc = c->m * c->m * c->m;
    c->first = malloc(nc * sizeof(int));
    c->next = malloc(n * sizeof(int));
    for (int k = 0; k < nc; k++) c->first[k] = -1;
    for (int i = 0; i < n; i++) {
        int a[3];
        for (int d = 0; d < 3; d++) { a[d] = (int)(x[3 * i + d] / c->w); if (a[d] >= c->m) a[d] = c->m - 1; }
        int k = (a[0] * c->m + a[1]) * c->m + a[2];
        c->next[i] = c->first[k];
        c->first[k] = i;
    }
}

__attribute__((noinline)) void add_bond(struct bondlist *l, int i, int j, double r) {
    struct bond *b = malloc(sizeof *b);
    b->i = i; b->j = j; b->r = r; b->next = NULL;
    struct bond **p = &l->head;
    while (*p) p = &(*p)->next;
    *p = b;
    l->count++;
}

static double dist2(const double *a, const double *b, double box) {
    double s = 0;
    for (int d = 0; d < 3; d++) { double u = a[d] - b[d]; u -= box * rint(u / box); s += u * u; }
    return s;
}

__attribute__((noinline)) void perceive_bonds(struct bondlist *l, const double *x, int n, double box) {
    for (int i = 1; i < n; i++) {
        double r = sqrt(dist2(x + 3 * i, x + 3 * (i - 1), box));
        if (i % 50 && r < 0.95) add_bond(l, i - 1, i, r);
    }
}

__attribute__((noinline)) double bond_energy(const struct bondlist *l) {
    double e = 0;
    for (const struct bond *b = l->head; b; b = b->next) {
        double q = 1.0 - exp(-1.8 * (b->r - 0.5));
        e += 40.0 * q * q;
    }
    return e;
}

__attribute__((noinline)) double pair_energy(const struct cells *c, const double *x, double box, double cut) {
    double e = 0;
    int m = c->m;
    for (int a = 0; a < m; a++) for (int b = 0; b < m; b++) for (int g = 0; g < m; g++)
        for (int i = c->first[(a * m + b) * m + g]; i >= 0; i = c->next[i])
            for (int o = 0; o < 27; o++) {
                int p = (a + o / 9 - 1 + m) % m, q = (b + o / 3 % 3 - 1 + m) % m, r = (g + o % 3 - 1 + m) % m;
                for (int j = c->first[(p * m + q) * m + r]; j >= 0; j = c->next[j]) {
                    if (j <= i) continue;
                    double d = dist2(x + 3 * i, x + 3 * j, box);
                    if (d < cut * cut) { double t = 1.0 / (d + 0.3); t = t * t * t; e += 4.0 * (t * t - t); }
                }
            }
    return e;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10000;
    double box = cbrt(n / 0.5), cut = 4.0;
    double *x = malloc(3 * n * sizeof(double));
    struct bondlist bonds = {NULL, 0};
    struct cells c;
    place_beads(x, n, box);
    fill_cells(&c, x, n, box, cut);
    perceive_bonds(&bonds, x, n, box);
    double eb = bond_energy(&bonds), ep[4];
    for (int k = 0; k < 4; k++) ep[k] = pair_energy(&c, x, box, cut - 0.4 * k);
    printf("beads %d bonds %ld  E_bond %.6e\n", n, bonds.count, eb);
    for (int k = 0; k < 4; k++) printf("cut %.1f  E_pair %.8e\n", cut - 0.4 * k, ep[k]);
    return 0;
}
