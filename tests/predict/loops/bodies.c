#include <math.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const int n = atoi(argc > 1 ? argv[1] : "2000");
    double *x = malloc(3 * n * sizeof *x), *f = calloc(3 * n, sizeof *f);
    for (int i = 0; i < 3 * n; i++) x[i] = (i * 7919 % 1000) * 0.001;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double d[3], r = 0.01;
            for (int k = 0; k < 3; k++) { d[k] = x[3 * j + k] - x[3 * i + k]; r += d[k] * d[k]; }
            r = 1 / (r * sqrt(r));
            for (int k = 0; k < 3; k++) f[3 * i + k] += d[k] * r;
        }
    return f[0] > 1e30;
}
