#include <stdlib.h>

static void sort(int *v, int low, int high)
{
    while (low < high) {
        int pivot = v[(low + high) / 2], i = low - 1, j = high + 1;
        for (;;) {
            do i++; while (v[i] < pivot);
            do j--; while (v[j] > pivot);
            if (i >= j) break;
            int t = v[i];
            v[i] = v[j];
            v[j] = t;
        }
        sort(v, low, j);
        low = j + 1;
    }
}

int main(int argc, char **argv)
{
    const int n = atoi(argc > 1 ? argv[1] : "600000");
    int *v = malloc(n * sizeof *v);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) { seed = seed * 1664525u + 1013904223u; v[i] = (int)(seed >> 1); }
    sort(v, 0, n - 1);
    return v[0] > v[n - 1];
}
