/* Snow-cover composite from a season of daily satellite scenes (8-bit NDSI,
 * 8-bit cloud probability): per pixel the clearest observation, the number of
 * usable days, and the last day on which snow was seen. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct raster {
    int rows, cols;
    uint8_t *px;
};

struct scene {
    int day;
    struct raster ndsi, cloud;
};

struct composite {
    int rows, cols;
    uint8_t cloud_limit, snow_limit;
    uint8_t *ndsi;      /* NDSI of the clearest day   */
    uint8_t *cloud;     /* its cloud probability      */
    uint8_t *usable;    /* number of usable days      */
    uint8_t *last;      /* last day with snow         */
};

static uint8_t *plane(int rows, int cols, int value)
{
    uint8_t *p = malloc((size_t)rows * cols);
    if (!p) { perror("plane"); exit(1); }
    memset(p, value, (size_t)rows * cols);
    return p;
}

static void raster_init(struct raster *r, int rows, int cols)
{
    r->rows = rows;
    r->cols = cols;
    r->px = plane(rows, cols, 0);
}

static void composite_init(struct composite *c, int rows, int cols)
{
    c->rows = rows;
    c->cols = cols;
    c->cloud_limit = 90;
    c->snow_limit = 140;
    c->ndsi = plane(rows, cols, 0);
    c->cloud = plane(rows, cols, 255);
    c->usable = plane(rows, cols, 0);
    c->last = plane(rows, cols, 0);
}

/* Reads the archive's run-length stripes of one day. */
static void scene_load(struct scene *s, int day)
{
    uint32_t h = 2166136261u ^ (uint32_t)day;
    s->day = day;
    for (int i = 0; i < s->ndsi.rows; i++) {
        uint8_t *n = s->ndsi.px + (size_t)i * s->ndsi.cols;
        uint8_t *c = s->cloud.px + (size_t)i * s->cloud.cols;
        int j = 0;
        while (j < s->ndsi.cols) {
            h = (h ^ (uint32_t)(i + j)) * 16777619u;
            int run = 24 + (h >> 20 & 63);
            if (run > s->ndsi.cols - j) run = s->ndsi.cols - j;
            int snow = 220 - day + (int)(h >> 8 & 63) - i / 16;
            memset(n + j, snow < 0 ? 0 : snow > 255 ? 255 : snow, run);
            memset(c + j, h >> 14 & 255, run);
            j += run;
        }
    }
}

static void composite_add(struct composite *c, const struct scene *s)
{
    for (int k = 0; k < c->rows * c->cols; k++) {
        uint8_t haze = s->cloud.px[k], white = s->ndsi.px[k];
        uint8_t ok = haze < c->cloud_limit;
        uint8_t better = haze < c->cloud[k];
        uint8_t snow = white > c->snow_limit;
        uint8_t pick = (uint8_t)-better, mark = (uint8_t)-(ok & snow);
        c->ndsi[k] = (white & pick) | (c->ndsi[k] & ~pick);
        c->cloud[k] = (haze & pick) | (c->cloud[k] & ~pick);
        c->usable[k] += ok;
        c->last[k] = (s->day & mark) | (c->last[k] & ~mark);
    }
}

static void report(const struct composite *c)
{
    long hist[8] = {0}, usable = 0, cloud = 0;
    double melt = 0;
    size_t n = (size_t)c->rows * c->cols;
    for (size_t k = 0; k < n; k++) {
        hist[c->ndsi[k] >> 5]++;
        usable += c->usable[k];
        cloud += c->cloud[k];
        melt += c->last[k];
    }
    printf("usable days/pixel %.4f  residual cloud %.4f  mean melt-out day %.4f\n",
           (double)usable / n, (double)cloud / n, melt / n);
    for (int b = 0; b < 8; b++)
        printf("ndsi %3d-%3d : %ld\n", b * 32, b * 32 + 31, hist[b]);
}

enum { ROWS = 1200, COLS = 1600, DAYS = 180, TILES = 5 };

static struct composite mosaic[TILES];
static struct scene today;

int main(void)
{
    raster_init(&today.ndsi, ROWS, COLS);
    raster_init(&today.cloud, ROWS, COLS);
    for (int t = 0; t < TILES; t++)
        composite_init(&mosaic[t], ROWS, COLS);
    for (int day = 1; day <= DAYS; day++)
        for (int t = 0; t < TILES; t++) {
            scene_load(&today, day + t * 7);
            composite_add(&mosaic[t], &today);
        }
    for (int t = 0; t < TILES; t++) {
        printf("tile %d\n", t);
        report(&mosaic[t]);
    }
    return 0;
}
