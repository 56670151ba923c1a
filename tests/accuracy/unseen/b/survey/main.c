#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, ny, nchan;
    double v0, dv;
    float *flux;
} Cube;

typedef struct {
    int nx, ny;
    double *value;
} Map;

static size_t voxel(const Cube *c, int chan, int y, int x)
{
    return ((size_t)chan * c->ny + y) * c->nx + x;
}

static Cube cube_new(int nx, int ny, int nchan)
{
    Cube c = {nx, ny, nchan, -120.0, 240.0 / nchan, NULL};
    c.flux = malloc(sizeof(float) * (size_t)nx * ny * nchan);
    return c;
}

static Map map_new(const Cube *c)
{
    Map m = {c->nx, c->ny, NULL};
    m.value = calloc((size_t)m.nx * m.ny, sizeof(double));
    return m;
}

static float noise(uint32_t k)
{
    k ^= k >> 16;
    k *= 0x7feb352dU;
    k ^= k >> 15;
    k *= 0x846ca68bU;
    k ^= k >> 16;
    return (float)(k >> 8) * (1.0f / 16777216.0f) - 0.5f;
}

static void observe(Cube *c)
{
    float *profile = malloc(sizeof(float) * c->nchan);
    for (int ch = 0; ch < c->nchan; ch++) {
        double v = c->v0 + ch * c->dv;
        profile[ch] = (float)exp(-v * v / 1800.0);
    }
    for (int ch = 0; ch < c->nchan; ch++)
        for (int y = 0; y < c->ny; y++) {
            float bright = profile[ch] * (float)(y % 97) / 97.0f;
            float *row = c->flux + voxel(c, ch, y, 0);
            for (int x = 0; x < c->nx; x++)
                row[x] = bright + 0.2f * noise((uint32_t)(voxel(c, ch, y, 0) + x));
        }
    free(profile);
}

static double *channel_weights(const Cube *c, int order, double lo, double hi)
{
    double *w = malloc(sizeof(double) * c->nchan);
    for (int ch = 0; ch < c->nchan; ch++) {
        double v = c->v0 + ch * c->dv, p = c->dv;
        for (int k = 0; k < order; k++)
            p *= v;
        w[ch] = (v >= lo && v <= hi) ? p : 0.0;
    }
    return w;
}

static double project(const Cube *c, int y, int x, const double *w)
{
    double s = 0.0;
    for (int ch = 0; ch < c->nchan; ch++)
        s += w[ch] * c->flux[voxel(c, ch, y, x)];
    return s;
}

static void moment(const Cube *c, const double *w, Map *m)
{
    for (int y = 0; y < c->ny; y++)
        for (int x = 0; x < c->nx; x++)
            m->value[(size_t)y * m->nx + x] = project(c, y, x, w);
}

static double rms(const Map *m)
{
    double s = 0.0;
    size_t n = (size_t)m->nx * m->ny;
    for (size_t i = 0; i < n; i++)
        s += m->value[i] * m->value[i];
    return sqrt(s / n);
}

static double extreme(const Map *m)
{
    double e = m->value[0];
    size_t n = (size_t)m->nx * m->ny;
    for (size_t i = 1; i < n; i++)
        if (m->value[i] > e)
            e = m->value[i];
    return e;
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 384;
    int nchan = argc > 2 ? atoi(argv[2]) : 240;
    Cube c = cube_new(side, side, nchan);
    Map m = map_new(&c);
    observe(&c);
    for (int order = 0; order < 3; order++) {
        double *w = channel_weights(&c, order, -90.0, 90.0);
        moment(&c, w, &m);
        printf("moment %d rms %.8e max %.8e\n", order, rms(&m), extreme(&m));
        free(w);
    }
    free(m.value);
    free(c.flux);
    return 0;
}
