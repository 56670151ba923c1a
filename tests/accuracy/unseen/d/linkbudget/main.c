/* Terrain obstruction of point-to-point radio links over an elevation tile.
   Deygout multiple knife-edge loss, 4/3-earth bulge, bilinear sampling. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TILE_SIDE 1201
#define POST_M 90.0
#define MAX_PROFILE 2048

typedef struct {
    FILE *fp;
    int side;
} Tile;

typedef struct {
    double x, y;      /* in posts */
    double mast;      /* metres above ground */
} Station;

static uint32_t rng_state = 2463534242u;

static double rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 17;
    rng_state ^= rng_state << 5;
    return rng_state / 4294967296.0;
}

/* Ridged relief written in the big-endian 16-bit layout of .hgt tiles. */
static int tile_create(Tile *t, int side)
{
    uint8_t *row = malloc(2 * (size_t)side);
    t->fp = tmpfile();
    t->side = side;
    if (!t->fp || !row)
        return -1;
    for (int r = 0; r < side; r++) {
        for (int c = 0; c < side; c++) {
            double h = 420.0 + 260.0 * sin(r * 0.013) * cos(c * 0.017)
                     + 90.0 * sin(r * 0.071 + 1.3) * sin(c * 0.057) + 25.0 * sin(0.31 * r + 0.23 * c);
            int v = (int)(h + 6.0 * rnd());
            row[2 * c] = (uint8_t)(v >> 8);
            row[2 * c + 1] = (uint8_t)v;
        }
        fwrite(row, 2, (size_t)side, t->fp);
    }
    free(row);
    return fflush(t->fp);
}

static void tile_close(Tile *t)
{
    fclose(t->fp);
}

static void tile_cell(const Tile *t, int r, int c, double z[4])
{
    uint8_t b[4];
    for (int k = 0; k < 2; k++) {
        fseek(t->fp, 2L * ((long)(r + k) * t->side + c), SEEK_SET);
        if (fread(b, 2, 2, t->fp) != 2) {
            perror("tile");
            exit(1);
        }
        z[2 * k] = (int16_t)(b[0] << 8 | b[1]);
        z[2 * k + 1] = (int16_t)(b[2] << 8 | b[3]);
    }
}

static double elevation(const Tile *t, double x, double y)
{
    int c = (int)x, r = (int)y;
    double z[4], u, v;
    if (c > t->side - 2)
        c = t->side - 2;
    if (r > t->side - 2)
        r = t->side - 2;
    u = x - c;
    v = y - r;
    tile_cell(t, r, c, z);
    return (1 - v) * ((1 - u) * z[0] + u * z[1]) + v * ((1 - u) * z[2] + u * z[3]);
}

static double knife_edge(double nu)
{
    if (nu <= -0.78)
        return 0.0;
    return 6.9 + 20.0 * log10(sqrt((nu - 0.1) * (nu - 0.1) + 1.0) + nu - 0.1);
}

/* Loss between samples a and b of the profile, the main edge first. */
static double deygout(const double *z, int a, int b, double step, double lambda, int depth)
{
    double worst = -1e9;
    int at = -1;
    if (b - a < 2 || depth == 0)
        return 0.0;
    double len = (b - a) * step;
    for (int i = a + 1; i < b; i++) {
        double d1 = (i - a) * step, d2 = len - d1;
        double line = z[a] + (z[b] - z[a]) * d1 / len;
        double bulge = d1 * d2 / (2.0 * 8495000.0);
        double nu = (z[i] + bulge - line) * sqrt(2.0 * len / (lambda * d1 * d2));
        if (nu > worst) {
            worst = nu;
            at = i;
        }
    }
    if (worst <= -0.78)
        return 0.0;
    return knife_edge(worst) + deygout(z, a, at, step, lambda, depth - 1)
         + deygout(z, at, b, step, lambda, depth - 1);
}

static void link_loss(const Tile *t, const Station *p, const Station *q, const double *mhz, int bands,
                      double *loss)
{
    static double z[MAX_PROFILE];
    double dx = q->x - p->x, dy = q->y - p->y;
    double posts = sqrt(dx * dx + dy * dy);
    int n = (int)(posts * 1.2) + 2;
    if (n > MAX_PROFILE)
        n = MAX_PROFILE;
    for (int i = 0; i < n; i++) {
        double s = (double)i / (n - 1);
        z[i] = elevation(t, p->x + s * dx, p->y + s * dy);
    }
    z[0] += p->mast;
    z[n - 1] += q->mast;
    double km = posts * POST_M / 1000.0;
    for (int k = 0; k < bands; k++)
        loss[k] = 32.44 + 20.0 * log10(km + 1e-6) + 20.0 * log10(mhz[k])
                + deygout(z, 0, n - 1, posts * POST_M / (n - 1), 299.792458 / mhz[k], 5);
}

int main(int argc, char **argv)
{
    int stations = argc > 1 ? atoi(argv[1]) : 125;
    Tile tile;
    if (tile_create(&tile, TILE_SIDE) != 0) {
        perror("tile");
        return 1;
    }
    Station *st = malloc(sizeof *st * (size_t)stations);
    for (int i = 0; i < stations; i++) {
        st[i].x = rnd() * (TILE_SIDE - 1);
        st[i].y = rnd() * (TILE_SIDE - 1);
        st[i].mast = 15.0 + 45.0 * rnd();
    }
    static const double band[3] = { 160.0, 450.0, 900.0 };
    int usable[3] = { 0, 0, 0 }, links = stations * (stations - 1) / 2;
    double sum[3] = { 0.0, 0.0, 0.0 }, loss[3];
    for (int i = 0; i < stations; i++)
        for (int j = i + 1; j < stations; j++) {
            link_loss(&tile, &st[i], &st[j], band, 3, loss);
            for (int k = 0; k < 3; k++) {
                sum[k] += loss[k];
                usable[k] += loss[k] < 150.0;
            }
        }
    for (int k = 0; k < 3; k++)
        printf("%5.0f MHz  links %d  usable %d  mean loss %.4f dB\n", band[k], links, usable[k], sum[k] / links);
    free(st);
    tile_close(&tile);
    return 0;
}
