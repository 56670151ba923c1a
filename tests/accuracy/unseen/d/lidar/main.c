/* Photon-counting lidar: turn raw shots into 8-bit quick-look curtains with
 * dark subtraction, range correction and gain, then track layer tops. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOTS 256
#define BINS 4000

struct curtain {
    int bins;
    int shots;
    uint16_t *raw;
    uint16_t *range2;       /* range correction, 8.8 fixed point */
    uint8_t *look;
};

struct calib {
    int dark;
    int gain;
    int shift;
};

static uint32_t rng = 2463534242u;

static uint32_t draw(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 17;
    rng ^= rng << 5;
    return rng;
}

static void observe(struct curtain *c)
{
    for (int s = 0; s < c->shots; s++) {
        int cloud = 1200 + 3 * s + (int)(draw() % 200);
        for (int b = 0; b < c->bins; b++) {
            int signal = 220000 / (b + 200) + (int)(draw() & 31);
            if (b > cloud && b < cloud + 150)
                signal += 600;
            c->raw[(size_t)s * c->bins + b] = (uint16_t)signal;
        }
    }
    for (int b = 0; b < c->bins; b++) {
        int r = 16 + (b * 60) / c->bins * (b * 60) / c->bins / 4;
        c->range2[b] = (uint16_t)r;
    }
}

static void render(struct curtain *c, const struct calib *k)
{
    for (int s = 0; s < c->shots; s++) {
        const uint16_t *raw = c->raw + (size_t)s * c->bins;
        uint8_t *out = c->look + (size_t)s * c->bins;
        for (int b = 0; b < c->bins; b++) {
            int v = raw[b] - k->dark;
            v = v < 0 ? 0 : v;
            v = (v * c->range2[b] * k->gain) >> k->shift;
            out[b] = v > 255 ? 255 : (uint8_t)v;
        }
    }
}

static void threshold_mask(struct curtain *c, const struct calib *k)
{
    size_t n = (size_t)c->shots * c->bins;
    uint8_t *restrict out = c->look;
    const uint16_t *raw = c->raw;
    const int limit = k->dark + 4 * k->gain;
    for (size_t i = 0; i < n; i++)
        out[i] = raw[i] > limit ? 255 : 0;
}

struct product {
    const char *name;
    void (*make)(struct curtain *, const struct calib *);
};

static const struct product products[] = {
    {"curtain", render},
    {"mask", threshold_mask},
};

static const struct product *product_named(const char *name)
{
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (strcmp(products[i].name, name) == 0)
            return &products[i];
    return &products[0];
}

static void layer_tops(const struct curtain *c, int threshold, int *tops)
{
    for (int s = 0; s < c->shots; s++) {
        const uint8_t *p = c->look + (size_t)s * c->bins;
        int b = c->bins - 1;
        while (b > 0 && p[b] < threshold)
            b--;
        tops[s] = b;
    }
}

static unsigned long checksum(const struct curtain *c)
{
    unsigned long h = 0;
    for (size_t i = 0; i < (size_t)c->shots * c->bins; i += 97)
        h = h * 31 + c->look[i];
    return h;
}

static struct curtain *curtain_new(int shots, int bins)
{
    struct curtain *c = malloc(sizeof *c);
    c->bins = bins;
    c->shots = shots;
    c->raw = malloc((size_t)shots * bins * sizeof *c->raw);
    c->range2 = malloc((size_t)bins * sizeof *c->range2);
    c->look = malloc((size_t)shots * bins);
    return c;
}

int main(int argc, char **argv)
{
    const struct product *p = product_named(argc > 1 ? argv[1] : "curtain");
    struct curtain *c = curtain_new(SHOTS, BINS);
    static int tops[SHOTS];
    unsigned long digest = 0;
    observe(c);
    /* sweep of display settings for the whole orbit segment */
    for (int dark = 20; dark < 60; dark++) {
        double mean = 0;
        for (int gain = 1; gain <= 90; gain++) {
            struct calib k = {dark, gain, 14};
            p->make(c, &k);
            layer_tops(c, 200, tops);
            for (int s = 0; s < SHOTS; s++)
                mean += tops[s];
            digest ^= checksum(c) + (unsigned long)gain;
        }
        printf("dark %d  mean layer top %.3f\n", dark, mean / (90.0 * SHOTS));
    }
    printf("digest %016lx\n", digest);
    return 0;
}
