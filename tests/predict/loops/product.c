#include <stdlib.h>

int main(int argc, char **argv)
{
    const int n = atoi(argc > 1 ? argv[1] : "300");
    double *a = malloc(sizeof *a * n * n), *b = malloc(sizeof *b * n * n), *c = calloc(n * n, sizeof *c);
    for (int i = 0; i < n * n; i++) { a[i] = i % 7; b[i] = i % 5; }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
    return c[n] < 0;
}
