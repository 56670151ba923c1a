#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 2560, HEIGHT = 2048 };

typedef struct {
    int width, height;
    uint8_t *pixel;
} image_t;

typedef struct {
    int64_t *sum;
    int width, height;
} table_t;

typedef struct {
    int x, y;
    double mean;
} spot_t;

static image_t image_new(int w, int h)
{
    image_t im = {w, h, malloc((size_t)w * h)};
    return im;
}

static void expose(image_t *im, unsigned frame)
{
    for (int y = 0; y < im->height; y++) {
        uint8_t *row = im->pixel + (size_t)y * im->width;
        unsigned base = (unsigned)y * 3u + frame * 7u;
        for (int x = 0; x < im->width; x++)
            row[x] = (uint8_t)(base + (unsigned)x * 5u);
    }
    for (int k = 0; k < 200; k++) {
        int x = (int)((frame * 7919u + (unsigned)k * 104729u) % (WIDTH - 8));
        int y = (int)((frame * 6101u + (unsigned)k * 15485863u) % (HEIGHT - 8));
        for (int j = 0; j < 8; j++)
            for (int i = 0; i < 8; i++)
                im->pixel[(size_t)(y + j) * im->width + x + i] = 255;
    }
}

static table_t integrate(const image_t *im)
{
    int w = im->width + 1, h = im->height + 1;
    static int64_t *store;
    if (!store)
        store = malloc((size_t)w * h * sizeof(int64_t));
    table_t t = {store, w, h};
    for (int x = 0; x < w; x++)
        t.sum[x] = 0;
    for (int y = 1; y < h; y++) {
        const uint8_t *src = im->pixel + (size_t)(y - 1) * im->width;
        const int64_t *prev = t.sum + (size_t)(y - 1) * w;
        int64_t *cur = t.sum + (size_t)y * w;
        int64_t run = 0;
        cur[0] = 0;
        for (int x = 1; x < w; x++) {
            run += src[x - 1];
            cur[x] = prev[x] + run;
        }
    }
    return t;
}

static int64_t box(const table_t *t, int x, int y, int n)
{
    const int64_t *a = t->sum + (size_t)y * t->width + x;
    const int64_t *b = a + (size_t)n * t->width;
    return b[n] - b[0] - a[n] + a[0];
}

static spot_t brightest(const table_t *t, int n, int hop)
{
    spot_t s = {0, 0, -1.0};
    for (int y = 0; y + n < t->height; y += hop)
        for (int x = 0; x + n < t->width; x += hop) {
            double m = (double)box(t, x, y, n) / (n * n);
            if (m > s.mean) {
                s.x = x;
                s.y = y;
                s.mean = m;
            }
        }
    return s;
}

static spot_t examine(const image_t *im)
{
    table_t t = integrate(im);
    spot_t s = brightest(&t, 12, 4);
    spot_t wide = brightest(&t, 64, 32);
    if (wide.mean > s.mean)
        s = wide;
    return s;
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 60;
    image_t im = image_new(WIDTH, HEIGHT);
    double total = 0.0;
    long where = 0;
    for (int f = 0; f < frames; f++) {
        expose(&im, (unsigned)f);
        spot_t s = examine(&im);
        total += s.mean;
        where += (long)s.y * WIDTH + s.x;
        if (f % 20 == 0)
            printf("frame %3d  spot (%d,%d)  %.4f\n", f, s.x, s.y, s.mean);
    }
    printf("mean %.8f  checksum %ld\n", total / frames, where);
    free(im.pixel);
    return 0;
}
