#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

typedef struct {
    char *bases;
    unsigned char *qual;
    int masked;
} Read;

typedef struct {
    long a, c, g, t, n;
    long runs;
    uint64_t hash;
} Summary;

static uint64_t seed = 42;

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(seed >> 33);
}

static void make_read(Read *r, int len)
{
    static const char letters[] = "ACGT";
    r->bases = malloc((size_t)len + 1);
    r->qual = malloc((size_t)len);
    r->masked = 0;
    char prev = 'A';
    for (int i = 0; i < len; i++) {
        uint32_t d = draw();
        char b = (d & 7) < 3 ? prev : letters[(d >> 8) & 3];
        r->bases[i] = b;
        r->qual[i] = (unsigned char)((d >> 12) % 41);
        prev = b;
    }
    r->bases[len] = '\0';
}

static void free_read(Read *r)
{
    free(r->bases);
    free(r->qual);
}

static size_t span(const Read *r)
{
    return strlen(r->bases);
}

static void mask_low_quality(Read *r, int limit)
{
    int window = 0;
    for (size_t i = 0; i < span(r); i++) {
        window += r->qual[i];
        if (i >= 8)
            window -= r->qual[i - 8];
        if (i >= 7 && window < 8 * limit) {
            r->bases[i] = 'N';
            r->masked++;
        }
    }
}

static void fold_homopolymers(Read *r, long *runs)
{
    size_t n = span(r);
    int same = 1;
    for (size_t i = 1; i < n; i++) {
        same = r->bases[i] == r->bases[i - 1] ? same + 1 : 1;
        if (same == 6)
            (*runs)++;
    }
}

static void count_bases(const Read *r, Summary *s)
{
    for (const char *p = r->bases; *p; p++) {
        switch (*p) {
        case 'A': s->a++; break;
        case 'C': s->c++; break;
        case 'G': s->g++; break;
        case 'T': s->t++; break;
        default: s->n++; break;
        }
        s->hash = (s->hash ^ (uint64_t)*p) * 1099511628211ULL;
    }
}

static void process(Read *r, Summary *s, int limit)
{
    mask_low_quality(r, limit);
    fold_homopolymers(r, &s->runs);
    count_bases(r, s);
}

int main(int argc, char **argv)
{
    int nreads = argc > 1 ? atoi(argv[1]) : 200;
    int len = argc > 2 ? atoi(argv[2]) : 30000;
    Summary s = {0, 0, 0, 0, 0, 0, 1469598103934665603ULL};
    long masked = 0;
    for (int k = 0; k < nreads; k++) {
        Read r;
        make_read(&r, len + k % 17);
        process(&r, &s, 16);
        masked += r.masked;
        free_read(&r);
    }
    printf("A %ld C %ld G %ld T %ld N %ld\n", s.a, s.c, s.g, s.t, s.n);
    printf("masked %ld runs %ld hash %016llx\n", masked, s.runs,
           (unsigned long long)s.hash);
    return 0;
}
