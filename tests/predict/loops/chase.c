#include <stdlib.h>

/* A list in random order, followed to its end and again. */
int main(int argc, char **argv)
{
    const unsigned n = (unsigned)atoi(argc > 1 ? argv[1] : "200000"), steps = (unsigned)atoi(argc > 2 ? argv[2] : "4000000");
    unsigned *next = malloc(n * sizeof *next), seed = 1, at = 0;
    for (unsigned i = 0; i < n; i++) next[i] = i;
    for (unsigned i = n - 1; i > 0; i--) { /* one cycle, after Sattolo */
        seed = seed * 1664525u + 1013904223u;
        unsigned j = (seed >> 4) % i, t = next[i];
        next[i] = next[j];
        next[j] = t;
    }
    for (unsigned s = 0; s < steps; s++) at = next[at];
    return at == n;
}
