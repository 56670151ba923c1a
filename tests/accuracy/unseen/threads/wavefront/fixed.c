/* Global alignment of two long sequences (Needleman-Wunsch, affine gaps, score only).
 * The table is cut into tiles, tiles of one anti-diagonal are shared among threads;
 * within a tile the cells are swept by anti-diagonals. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXT 8
#define T 512
#define LOW (-1000000000)

enum { MATCH = 5, MISMATCH = -4, OPEN = -10, EXTEND = -1 };

static int n, m, nt = 2;
static uint8_t *a, *b;              /* b is kept reversed */
static int *htop, *ftop;            /* last finished row, by column */
static int *hleft, *eleft, *corner; /* last finished column, by row; corner by tile row */
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

static inline int max2(int x, int y) { return x > y ? x : y; }

/* cells (i, d - i) for i in [lo, hi); pa[i], pb[i]: the letters */
static void sweep(const uint8_t *pa, const uint8_t *pb, int lo, int hi, int *restrict hc, const int *restrict hp, const int *restrict hpp,
                  int *restrict ec, const int *restrict ep, int *restrict fc, const int *restrict fp)
{
    for (int i = lo; i < hi; i++) {
        int e = max2(hp[i] + OPEN, ep[i]) + EXTEND;         /* from (i, j-1) */
        int f = max2(hp[i - 1] + OPEN, fp[i - 1]) + EXTEND; /* from (i-1, j) */
        int s = hpp[i - 1] + (pa[i] == pb[i] ? MATCH : MISMATCH);
        ec[i] = e;
        fc[i] = f;
        hc[i] = max2(s, max2(e, f));
    }
}

static void tile(int bi, int bj, int buf[7][T + 2])
{
    int i0 = bi * T, j0 = bj * T, h = n - i0 < T ? n - i0 : T, w = m - j0 < T ? m - j0 : T;
    int *ht = htop + j0, *ft = ftop + j0, *hl = hleft + i0, *el = eleft + i0;
    int *hc = buf[0], *hp = buf[1], *hpp = buf[2], *ec = buf[3], *ep = buf[4], *fc = buf[5], *fp = buf[6];
    hpp[0] = corner[bi];
    corner[bi] = ht[w];
    hp[0] = ht[1], fp[0] = ft[1];
    hp[1] = hl[1], ep[1] = el[1];
    for (int d = 2; d <= h + w; d++) {
        int lo = d - w > 1 ? d - w : 1, hi = d - 1 < h ? d : h + 1;
        sweep(a + i0 - 1, b + (m - j0 - d), lo, hi, hc, hp, hpp, ec, ep, fc, fp);
        if (d <= w) hc[0] = ht[d], fc[0] = ft[d];
        if (d <= h) hc[d] = hl[d], ec[d] = el[d];
        if (d > w) hl[d - w] = hc[d - w], el[d - w] = ec[d - w];
        if (d > h) ht[d - h] = hc[h], ft[d - h] = fc[h];
        int *t = hpp;
        hpp = hp, hp = hc, hc = t;
        t = ec, ec = ep, ep = t;
        t = fc, fc = fp, fp = t;
    }
}

static void *worker(void *arg)
{
    int id = (int)(intptr_t)arg, ti = (n + T - 1) / T, tj = (m + T - 1) / T;
    int(*buf)[T + 2] = malloc(7 * sizeof *buf);
    for (int d = 0; d < ti + tj - 1; d++) {
        int lo = d - tj + 1 > 0 ? d - tj + 1 : 0, hi = d < ti ? d + 1 : ti;
        for (int bi = lo + id; bi < hi; bi += nt)
            tile(bi, d - bi, buf);
        pthread_barrier_wait(&step);
    }
    free(buf);
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
        htop = malloc((m + 1) * sizeof *htop), ftop = malloc((m + 1) * sizeof *ftop);
        hleft = malloc((n + 1) * sizeof *hleft), eleft = malloc((n + 1) * sizeof *eleft);
        corner = malloc((n / T + 1) * sizeof *corner);
        for (int j = 1; j <= m; j++)
            htop[j] = OPEN + EXTEND * j, ftop[j] = LOW;
        for (int i = 1; i <= n; i++)
            hleft[i] = OPEN + EXTEND * i, eleft[i] = LOW;
        for (int k = 0; k * T < n; k++)
            corner[k] = k ? OPEN + EXTEND * k * T : 0;

        pthread_t th[MAXT];
        pthread_barrier_init(&step, NULL, nt);
        for (int t = 0; t < nt; t++)
            pthread_create(&th[t], NULL, worker, (void *)(intptr_t)t);
        for (int t = 0; t < nt; t++)
            pthread_join(th[t], NULL);
        pthread_barrier_destroy(&step);

        printf("pair %d: %d x %d  score %d\n", p, n, m, hleft[n]);
        total += hleft[n];
        free(htop), free(ftop), free(hleft), free(eleft), free(corner);
        free(a);
        free(b);
    }
    printf("total %ld\n", total);
    return 0;
}
