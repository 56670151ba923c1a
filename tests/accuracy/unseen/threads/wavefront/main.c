/* Global alignment of two long sequences (Needleman-Wunsch, affine gaps, score only).
 * The table is swept by anti-diagonals; the cells of one are shared among threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXT 8
#define LOW (-1000000000)

enum { MATCH = 5, MISMATCH = -4, OPEN = -10, EXTEND = -1 };

static int n, m, nt = 2;
static uint8_t *a, *b;              /* b is kept reversed */
static int *hcur, *hprev, *hprev2;  /* best score on three anti-diagonals, by row */
static int *ecur, *eprev, *fcur, *fprev;
static pthread_barrier_t step;

static uint64_t rng_state = 99;
static uint32_t rng(void)
{
    rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(rng_state >> 33);
}

/* b is a with substitutions, insertions and deletions */
static void make_pair(int len)
{
    a = malloc(len);
    uint8_t *t = malloc(2 * (size_t)len);
    int k = 0;
    for (int i = 0; i < len; i++)
        a[i] = rng() & 3;
    for (int i = 0; i < len; i++) {
        uint32_t r = rng() % 100;
        if (r < 3) continue;
        if (r < 6) t[k++] = rng() & 3;
        t[k++] = r < 16 ? rng() & 3 : a[i];
    }
    n = len;
    m = k;
    b = malloc(m);
    for (int j = 0; j < m; j++)
        b[j] = t[m - 1 - j];
    free(t);
}

static int *row_array(void)
{
    int *p = malloc((n + 2) * sizeof *p);
    for (int i = 0; i < n + 2; i++)
        p[i] = LOW;
    return p;
}

static inline int max2(int x, int y) { return x > y ? x : y; }

/* cells (i, d - i) for i in [lo, hi) */
static void sweep(int d, int lo, int hi, int *restrict hc, const int *restrict hp, const int *restrict hpp,
                  int *restrict ec, const int *restrict ep, int *restrict fc, const int *restrict fp)
{
    const uint8_t *pa = a - 1, *pb = b + (m - d);
    for (int i = lo; i < hi; i++) {
        int e = max2(hp[i] + OPEN, ep[i]) + EXTEND;         /* from (i, j-1) */
        int f = max2(hp[i - 1] + OPEN, fp[i - 1]) + EXTEND; /* from (i-1, j) */
        int s = hpp[i - 1] + (pa[i] == pb[i] ? MATCH : MISMATCH);
        ec[i] = e;
        fc[i] = f;
        hc[i] = max2(s, max2(e, f));
    }
}

static void *worker(void *arg)
{
    int id = (int)(intptr_t)arg;
    for (int d = 2; d <= n + m; d++) {
        int lo = d - m > 1 ? d - m : 1, hi = d - 1 < n ? d : n + 1;
        int len = hi - lo;
        sweep(d, lo + (int)((long)len * id / nt), lo + (int)((long)len * (id + 1) / nt), hcur, hprev,
              hprev2, ecur, eprev, fcur, fprev);
        if (pthread_barrier_wait(&step) == PTHREAD_BARRIER_SERIAL_THREAD) {
            if (d <= m) hcur[0] = OPEN + EXTEND * d, ecur[0] = hcur[0], fcur[0] = LOW;
            if (d <= n) hcur[d] = OPEN + EXTEND * d, fcur[d] = hcur[d], ecur[d] = LOW;
            int *t = hprev2;
            hprev2 = hprev, hprev = hcur, hcur = t;
            t = ecur, ecur = eprev, eprev = t;
            t = fcur, fcur = fprev, fprev = t;
        }
        pthread_barrier_wait(&step);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int len = argc > 1 ? atoi(argv[1]) : 10000;
    int pairs = argc > 2 ? atoi(argv[2]) : 4;
    if (argc > 3) nt = atoi(argv[3]);
    if (nt > MAXT) nt = MAXT;
    long total = 0;
    for (int p = 0; p < pairs; p++) {
        make_pair(len);
        int **rows[] = {&hcur, &hprev, &hprev2, &ecur, &eprev, &fcur, &fprev};
        for (int k = 0; k < 7; k++)
            *rows[k] = row_array();
        hprev2[0] = 0;
        hprev[0] = hprev[1] = OPEN + EXTEND;
        eprev[0] = fprev[1] = OPEN + EXTEND;

        pthread_t th[MAXT];
        pthread_barrier_init(&step, NULL, nt);
        for (int t = 0; t < nt; t++)
            pthread_create(&th[t], NULL, worker, (void *)(intptr_t)t);
        for (int t = 0; t < nt; t++)
            pthread_join(th[t], NULL);
        pthread_barrier_destroy(&step);

        printf("pair %d: %d x %d  score %d\n", p, n, m, hprev[n]);
        total += hprev[n];
        for (int k = 0; k < 7; k++)
            free(*rows[k]);
        free(a);
        free(b);
    }
    printf("total %ld\n", total);
    return 0;
}
