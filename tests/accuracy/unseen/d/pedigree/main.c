/* Inbreeding in a closed sheep flock: simulate matings over generations with
 * overlapping parents, then report coancestry of candidate pairs and the
 * genomic drift of marker loci. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOUNDERS = 40, PER_GEN = 60, GENS = 10, LOCI = 20000 };

struct animal {
    int sire, dam;          /* -1: unknown */
    int gen;
    unsigned char *geno;    /* allele count per locus */
};

struct flock {
    struct animal *a;
    int n;
};

static unsigned long long seed = 0x9E3779B97F4A7C15ULL;

static unsigned rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 32);
}

static int pick(int lo, int hi) { return lo + (int)(rnd() % (unsigned)(hi - lo)); }

static int gamete(unsigned char g)
{
    return g == 2 ? 1 : g == 0 ? 0 : (int)(rnd() & 1);
}

static void lamb(struct flock *f, int sire, int dam, int gen)
{
    struct animal *x = &f->a[f->n];
    x->sire = sire;
    x->dam = dam;
    x->gen = gen;
    x->geno = malloc(LOCI);
    for (int l = 0; l < LOCI; l++) {
        if (sire < 0)
            x->geno[l] = (unsigned char)((rnd() % 10 < 4) + (rnd() % 10 < 4));
        else
            x->geno[l] = (unsigned char)(gamete(f->a[sire].geno[l]) + gamete(f->a[dam].geno[l]));
    }
    f->n++;
}

static void breed(struct flock *f)
{
    f->a = calloc(FOUNDERS + PER_GEN * GENS, sizeof *f->a);
    f->n = 0;
    for (int i = 0; i < FOUNDERS; i++)
        lamb(f, -1, -1, 0);
    for (int g = 1; g <= GENS; g++) {
        int lo = f->n - (g == 1 ? FOUNDERS : PER_GEN), hi = f->n;
        for (int i = 0; i < PER_GEN; i++) {
            int s = pick(lo, lo + (hi - lo) / 4);
            int d = pick(lo + (hi - lo) / 4, hi);
            lamb(f, s, d, g);
        }
    }
}

/* probability that alleles drawn from i and j are identical by descent */
static double coancestry(const struct flock *f, int i, int j)
{
    if (i < 0 || j < 0)
        return 0.0;
    if (i < j) {
        int t = i;
        i = j;
        j = t;
    }
    const struct animal *x = &f->a[i];
    if (i == j)
        return 0.5 * (1.0 + coancestry(f, x->sire, x->dam));
    return 0.5 * (coancestry(f, x->sire, j) + coancestry(f, x->dam, j));
}

static double similarity(const struct flock *f, int i, int j)
{
    const unsigned char *p = f->a[i].geno, *q = f->a[j].geno;
    int diff = 0;
    for (int l = 0; l < LOCI; l++)
        diff += abs(p[l] - q[l]);
    return 1.0 - diff / (2.0 * LOCI);
}

int main(void)
{
    struct flock f;
    breed(&f);
    for (int g = 1; g <= GENS; g++) {
        int lo = FOUNDERS + (g - 1) * PER_GEN;
        double fsum = 0, msum = 0;
        int het = 0;
        for (int i = lo; i < lo + PER_GEN; i++) {
            fsum += coancestry(&f, f.a[i].sire, f.a[i].dam);
            for (int l = 0; l < LOCI; l++)
                het += f.a[i].geno[l] == 1;
            for (int k = i - PER_GEN / 2; k < i + PER_GEN / 2 && k < f.n; k++)
                msum += similarity(&f, i, k);
        }
        printf("generation %2d  inbreeding %.6f  heterozygosity %.6f  similarity %.6f\n", g, fsum / PER_GEN,
               het / (double)(PER_GEN * LOCI), msum / PER_GEN / PER_GEN);
    }
    int lo = f.n - PER_GEN, best_i = lo, best_j = lo + 1;
    double best = 1e9;
    for (int i = lo; i < lo + PER_GEN / 4; i++)
        for (int j = lo + PER_GEN / 4; j < f.n; j++) {
            double c = coancestry(&f, i, j);
            if (c < best) {
                best = c;
                best_i = i;
                best_j = j;
            }
        }
    printf("least related pair %d x %d  coancestry %.6f\n", best_i, best_j, best);
    return 0;
}
