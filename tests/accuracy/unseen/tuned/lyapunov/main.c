/* Lyapunov exponents of the periodically forced quadratic map
 *     z -> z*z + c(n),  c alternates between a (horizontal axis) and b (vertical axis).
 * Writes a PGM picture and a histogram of the exponents. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES 8
#define GROUPS 8
#define STRIP (LANES * GROUPS)
#define NBIN 128

typedef double vd __attribute__((vector_size(64)));
typedef int64_t vi __attribute__((vector_size(64)));

struct spectrum {
    long count[NBIN];
    long escaped, chaotic;
    double lowest, highest;
};

static const double BAIL = 4.0;

/* 64 neighbouring values of a at one b; returns 0 if all lanes left early */
static int strip_exponents(const double *a, double b, int settle, int rounds, double *lam)
{
    vd z[GROUPS], p[GROUPS], ca[GROUPS];
    vi e[GROUPS];
    const vi expo = (vi){0} + 0x7ff0000000000000LL, one = (vi){0} + 0x3ff0000000000000LL;
    for (int g = 0; g < GROUPS; g++) {
        memcpy(&ca[g], a + g * LANES, sizeof(vd));
        z[g] = (vd){0};
        e[g] = (vi){0};
        p[g] = (vd){0} + 1.0;
    }
    for (int n = 0; n < settle; n++) {
        for (int g = 0; g < GROUPS; g++) z[g] = z[g] * z[g] + ca[g];
        for (int g = 0; g < GROUPS; g++) z[g] = z[g] * z[g] + b;
    }
    int alive = 0;
    for (int g = 0; g < GROUPS; g++)
        for (int l = 0; l < LANES; l++) alive += fabs(z[g][l]) < BAIL;
    if (!alive) return 0;

    for (int r = 0; r < rounds; r++) {
        for (int n = 0; n < 32; n++) {
            for (int g = 0; g < GROUPS; g++) {
                p[g] *= z[g];
                z[g] = z[g] * z[g] + ca[g];
            }
            for (int g = 0; g < GROUPS; g++) {
                p[g] *= z[g];
                z[g] = z[g] * z[g] + b;
            }
        }
        /* move the binary exponent out of the product */
        for (int g = 0; g < GROUPS; g++) {
            vi q = (vi)p[g];
            e[g] += ((q & expo) >> 52) - 1023;
            p[g] = (vd)((q & ~expo) | one);
        }
    }
    double len = 64.0 * rounds;
    for (int g = 0; g < GROUPS; g++)
        for (int l = 0; l < LANES; l++) {
            double s = e[g][l] * M_LN2 + log(fabs(p[g][l]));
            lam[g * LANES + l] = fabs(z[g][l]) < BAIL ? s / len + M_LN2 : INFINITY;
        }
    return 1;
}

static void tally(struct spectrum *s, const double *lam, int n)
{
    for (int i = 0; i < n; i++) {
        if (!(lam[i] < 10.0)) {
            s->escaped++;
            continue;
        }
        int k = (int)((lam[i] + 3.0) * (NBIN / 4.0));
        s->count[k < 0 ? 0 : k >= NBIN ? NBIN - 1 : k]++;
        s->chaotic += lam[i] > 0;
        if (lam[i] < s->lowest) s->lowest = lam[i];
        if (lam[i] > s->highest) s->highest = lam[i];
    }
}

int main(int argc, char **argv)
{
    int width = argc > 1 ? atoi(argv[1]) : 1024, height = argc > 2 ? atoi(argv[2]) : 768;
    int rounds = argc > 3 ? atoi(argv[3]) : 400;
    width -= width % STRIP;
    int strips = width / STRIP;
    double *axis = malloc(sizeof(double) * width);
    unsigned char *img = calloc(height, width);
    for (int i = 0; i < width; i++) axis[i] = -2.0 + 2.25 * (i + 0.5) / width;
    struct spectrum all = {.lowest = 1e9, .highest = -1e9};

#pragma omp parallel for collapse(2) schedule(dynamic, 1)
    for (int y = 0; y < height; y++)
        for (int s = 0; s < strips; s++) {
            double lam[STRIP];
            double b = -2.0 + 2.25 * (y + 0.5) / height;
            if (!strip_exponents(axis + s * STRIP, b, 400, rounds, lam))
                for (int i = 0; i < STRIP; i++) lam[i] = INFINITY;
            for (int i = 0; i < STRIP; i++) {
                double v = lam[i] < 10.0 ? 160.0 + 90.0 * lam[i] : 255.0;
                img[(size_t)y * width + s * STRIP + i] = v < 0 ? 0 : v > 255 ? 255 : (unsigned char)v;
            }
#pragma omp critical(spectrum)
            tally(&all, lam, STRIP);
        }

    FILE *f = fopen("plane.pgm", "wb");
    if (f) {
        fprintf(f, "P5\n%d %d\n255\n", width, height);
        for (int y = 0; y < height; y++) fwrite(img + (size_t)y * width, 1, width, f);
        fclose(f);
    }
    printf("escaped %ld chaotic %ld lowest %.6f highest %.6f\n", all.escaped, all.chaotic, all.lowest, all.highest);
    for (int k = 0; k < NBIN; k += 8) printf("%7.3f %ld\n", -3.0 + 4.0 * k / NBIN, all.count[k]);
    free(axis);
    free(img);
    return 0;
}
