#include <stdlib.h>

int main(int argc, char **argv)
{
    const size_t n = strtoul(argc > 1 ? argv[1] : "1000000", NULL, 10), times = strtoul(argc > 2 ? argv[2] : "50", NULL, 10);
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
    for (size_t i = 0; i < n; i++) { a[i] = 0; b[i] = (double)i; c[i] = 1; }
    for (size_t t = 0; t < times; t++)
        for (size_t i = 0; i < n; i++) a[i] = b[i] + 0.5 * c[i] + (double)t;
    return a[n / 2] < 0;
}
