/* Neighbourhood overlap (clustering and mean Jaccard) in a citation-like network. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NI __attribute__((noinline))

typedef struct { int nv; long ne; long *off; int *adj; } Net;

static unsigned long long st = 0x853c49e6748fea9bULL;
static unsigned rnd(void)
{
    st = st * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(st >> 33);
}

static int by_id(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* every new paper cites m earlier ones, copying some of the references it finds there */
NI static Net grow(int nv, int m)
{
    int *src = malloc(sizeof(int) * (size_t)nv * m), *dst = malloc(sizeof(int) * (size_t)nv * m);
    long ne = 0;
    for (int v = 1; v < nv; v++)
        for (int k = 0; k < m && k < v; k++) {
            int t = (int)(rnd() % (unsigned)v);
            if (ne && rnd() % 100 < 15) t = dst[rnd() % (unsigned)ne];
            if (t == v) continue;
            src[ne] = v; dst[ne++] = t;
        }
    Net g = { nv, 2 * ne, calloc(nv + 1, sizeof(long)), malloc(sizeof(int) * 2 * (size_t)ne) };
    for (long e = 0; e < ne; e++) { g.off[src[e] + 1]++; g.off[dst[e] + 1]++; }
    for (int v = 0; v < nv; v++) g.off[v + 1] += g.off[v];
    long *fill = malloc(sizeof(long) * nv);
    memcpy(fill, g.off, sizeof(long) * nv);
    for (long e = 0; e < ne; e++) { g.adj[fill[src[e]]++] = dst[e]; g.adj[fill[dst[e]]++] = src[e]; }
    for (int v = 0; v < nv; v++) qsort(g.adj + g.off[v], g.off[v + 1] - g.off[v], sizeof(int), by_id);
    free(src); free(dst); free(fill);
    return g;
}

NI static long common(const Net *g, int u, int v)
{
    long i = g->off[u], j = g->off[v], c = 0;
    while (i < g->off[u + 1] && j < g->off[v + 1]) {
        int a = g->adj[i], b = g->adj[j];
        c += a == b;
        i += a <= b;
        j += b <= a;
    }
    return c;
}

NI static double overlap(const Net *g, long *tri)
{
    double jac = 0;
    long t = 0;
#pragma omp parallel for schedule(static) reduction(+ : jac, t)
    for (int v = 0; v < g->nv; v++) {
        long dv = g->off[v + 1] - g->off[v];
        for (long k = g->off[v]; k < g->off[v + 1]; k++) {
            int u = g->adj[k];
            if (u < v) continue;
            long c = common(g, v, u), du = g->off[u + 1] - g->off[u];
            jac += (double)c / (double)(dv + du - c);
            t += c;
        }
    }
    *tri = t / 3;
    return 2 * jac / g->ne;
}

NI static double wedges(const Net *g)
{
    double w = 0;
#pragma omp parallel for schedule(static) reduction(+ : w)
    for (int v = 0; v < g->nv; v++) {
        double d = (double)(g->off[v + 1] - g->off[v]);
        w += 0.5 * d * (d - 1);
    }
    return w;
}

int main(void)
{
    Net g = grow(100000, 18);
    long tri;
    double j = overlap(&g, &tri), w = wedges(&g);
    printf("papers %d  links %ld  mean Jaccard %.5f  triangles %ld  transitivity %.5f\n", g.nv, g.ne / 2, j, tri,
           3.0 * tri / w);
    free(g.off); free(g.adj);
    return 0;
}
