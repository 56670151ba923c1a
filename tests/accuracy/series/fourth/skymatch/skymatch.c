/* Cross-identification of two optical survey catalogues.
 * usage: skymatch <number of sources>                     */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define DEG (M_PI / 180.0)
#define NZONE 24
typedef struct { double ra, dec, x, y, z, mag, err; int id; } source;

static unsigned long long seed = 88172645463325252ULL;
static double rnd(void) {
    seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
    return (seed >> 11) * (1.0 / 9007199254740992.0);
}

__attribute__((noinline)) void make_catalogue(source *c, int n) {
    for (int i = 0; i < n; i++) {
        c[i].ra = 360.0 * rnd();
        c[i].dec = asin(2.0 * rnd() - 1.0) / DEG;
        c[i].mag = 14.0 + 8.0 * sqrt(rnd());
        c[i].err = 0.1 + 0.2 * rnd();
        c[i].id = i;
    }
}

__attribute__((noinline)) void perturb(const source *a, source *b, int n) {
    for (int i = 0; i < n; i++) {
        b[i] = a[i];
        b[i].ra += 2e-5 * (rnd() - 0.5);
        b[i].dec += 2e-5 * (rnd() - 0.5);
        b[i].mag += 0.05 * (rnd() - 0.5);
    }
}

/* annual aberration and parallax averaged over the visits of the survey */
__attribute__((noinline)) void apparent_places(source *c, int n, int visits) {
    for (int i = 0; i < n; i++) {
        double sx = 0, sy = 0, sz = 0;
        for (int v = 0; v < visits; v++) {
            double lon = 2.0 * M_PI * v / visits, r = c[i].ra * DEG + 1e-8 * sin(lon);
            double d = c[i].dec * DEG + 1e-8 * cos(lon);
            sx += cos(d) * cos(r); sy += cos(d) * sin(r); sz += sin(d);
        }
        double l = sqrt(sx * sx + sy * sy + sz * sz);
        c[i].x = sx / l; c[i].y = sy / l; c[i].z = sz / l;
    }
}

static int by_dec(const void *a, const void *b) {
    double p = ((const source *)a)->dec, q = ((const source *)b)->dec;
    return (p > q) - (p < q);
}

__attribute__((noinline)) void zone_index(const source *c, int n, int *first) {
    int k = 0;
    for (int z = 0; z <= NZONE; z++) {
        double lo = -90.0 + 180.0 * z / NZONE;
        while (k < n && c[k].dec < lo) k++;
        first[z] = k;
    }
    first[NZONE] = n;
}

__attribute__((noinline)) int match_zones(const source *a, int na, const source *b, const int *first,
                                          int *partner, double radius) {
    double cmin = 2.0 * (1.0 - cos(radius * DEG)) + 1e-15;
    int found = 0;
    for (int i = 0; i < na; i++) {
        int z = (int)((a[i].dec + 90.0) * NZONE / 180.0);
        if (z >= NZONE) z = NZONE - 1;
        double best = cmin;
        partner[i] = -1;
        for (int j = first[z]; j < first[z + 1]; j++) {
            double dx = a[i].x - b[j].x, dy = a[i].y - b[j].y, dz = a[i].z - b[j].z;
            double d2 = dx * dx + dy * dy + dz * dz;
            if (d2 < best) { best = d2; partner[i] = j; }
        }
        found += partner[i] >= 0;
    }
    return found;
}

__attribute__((noinline)) double zero_point(const source *a, const source *b, const int *p, int n) {
    double s = 0, w = 0;
    for (int i = 0; i < n; i++)
        if (p[i] >= 0) {
            double e = 1.0 / (a[i].err * a[i].err + b[p[i]].err * b[p[i]].err);
            s += e * (pow(10.0, -0.4 * b[p[i]].mag) / pow(10.0, -0.4 * a[i].mag)); w += e;
        }
    return w > 0 ? -2.5 * log10(s / w) : 0;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 20000, first[NZONE + 1];
    source *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    int *partner = malloc(n * sizeof *partner);
    make_catalogue(a, n);
    perturb(a, b, n);
    apparent_places(a, n, 56);
    apparent_places(b, n, 56);
    qsort(a, n, sizeof *a, by_dec);
    qsort(b, n, sizeof *b, by_dec);
    zone_index(b, n, first);
    int m = match_zones(a, n, b, first, partner, 1.0 / 3600.0);
    printf("%d sources, %d matched, zero point %.5f\n", n, m, zero_point(a, b, partner, n));
    free(a); free(b); free(partner);
    return 0;
}
