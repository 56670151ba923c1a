/* Auralisation: convolve a dry signal of n blocks with a room response (partitioned FFT),
   then octave-band levels and percentile statistics of the short-term level. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NI __attribute__((noinline))
#define B 512
#define PARTS 6
typedef double complex cpx;

static cpx tw[B];
static cpx H[PARTS][2 * B], X[PARTS][2 * B];

NI static void fft(cpx *a, int n, int inv)
{
    for (int i = 1, j = 0; i < n; i++) {
        int bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) { cpx t = a[i]; a[i] = a[j]; a[j] = t; }
    }
    for (int len = 2; len <= n; len <<= 1) {
        int st = 2 * B / len;
        for (int i = 0; i < n; i += len)
            for (int k = 0; k < len / 2; k++) {
                double wr = creal(tw[k * st]), wi = inv ? -cimag(tw[k * st]) : cimag(tw[k * st]);
                double br = creal(a[i + k + len / 2]), bi = cimag(a[i + k + len / 2]);
                cpx v = (br * wr - bi * wi) + I * (br * wi + bi * wr), u = a[i + k];
                a[i + k] = u + v;
                a[i + k + len / 2] = u - v;
            }
    }
}

NI static void room_response(void)
{
    unsigned s = 12345;
    for (int k = 0; k < B; k++) tw[k] = cexp(-I * M_PI * k / B);
    for (int p = 0; p < PARTS; p++) {
        for (int i = 0; i < B; i++) {
            s = s * 1664525u + 1013904223u;
            H[p][i] = ((double)(s >> 8) / 16777216.0 - 0.5) * exp(-(p * B + i) / 700.0);
        }
        fft(H[p], 2 * B, 0);
    }
}

NI static void dry_block(double *x, int blk)
{
    for (int i = 0; i < B; i++) {
        double t = (blk * (double)B + i) / 44100.0;
        x[i] = 0.6 * sin(2 * M_PI * 220.0 * t) + 0.3 * sin(2 * M_PI * 1330.0 * t + 0.4 * sin(5 * t));
    }
}

NI static void accumulate(cpx *acc, int blk)
{
    memset(acc, 0, sizeof(cpx) * 2 * B);
    for (int p = 0; p < PARTS && p <= blk; p++) {
        const double *x = (const double *)X[(blk - p) % PARTS], *h = (const double *)H[p];
        double *o = (double *)acc;
        for (int k = 0; k < 4 * B; k += 2) {
            o[k] += x[k] * h[k] - x[k + 1] * h[k + 1];
            o[k + 1] += x[k] * h[k + 1] + x[k + 1] * h[k];
        }
    }
}

static int cmp(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

NI static double percentile(double *lev, int n, double q)
{
    qsort(lev, n, sizeof *lev, cmp);
    return lev[(int)(q * (n - 1))];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000;
    double x[B], tail[B] = {0}, *level = malloc(sizeof *level * n * 8);
    cpx acc[2 * B];
    room_response();
    for (int b = 0; b < n; b++) {
        cpx *xb = X[b % PARTS];
        dry_block(x, b);
        for (int i = 0; i < B; i++) { xb[i] = x[i]; xb[i + B] = 0; }
        fft(xb, 2 * B, 0);
        accumulate(acc, b);
        fft(acc, 2 * B, 1);
        for (int s = 0; s < 8; s++) {
            double e = 1e-12;
            for (int i = s * B / 8; i < (s + 1) * B / 8; i++) {
                double y = (creal(acc[i]) + tail[i]) / (2 * B);
                e += y * y;
            }
            level[8 * b + s] = 10 * log10(e);
        }
        for (int i = 0; i < B; i++) tail[i] = creal(acc[i + B]);
    }
    double l10 = percentile(level, 8 * n, 0.9);
    printf("blocks %d  L10 %.2f dB  L90 %.2f dB\n", n, l10, level[(int)(0.1 * (8 * n - 1))]);
    free(level);
    return 0;
}
