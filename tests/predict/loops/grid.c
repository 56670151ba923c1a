#include <stdlib.h>

int main(int argc, char **argv)
{
    const int n = atoi(argc > 1 ? argv[1] : "1000"), times = atoi(argc > 2 ? argv[2] : "60");
    float *a = calloc(n * n, sizeof *a), *b = calloc(n * n, sizeof *b);
    for (int i = 0; i < n * n; i++) a[i] = i % 11;
    for (int t = 0; t < times; t++) {
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++)
                b[y * n + x] = 0.2f * (a[y * n + x] + a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x]);
        float *c = a;
        a = b;
        b = c;
    }
    return a[n] > 1e9f;
}
