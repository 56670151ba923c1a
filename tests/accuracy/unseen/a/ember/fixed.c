#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, ny;
    float *v;
} plane;

typedef struct {
    double mean, contrast;
    float peak;
} summary;

static plane *plane_new(int nx, int ny)
{
    plane *p = malloc(sizeof *p);
    p->nx = nx;
    p->ny = ny;
    p->v = malloc((size_t)nx * ny * sizeof(float));
    return p;
}

static void plane_free(plane *p)
{
    free(p->v);
    free(p);
}

static void expose(plane *p, unsigned seed)
{
    unsigned s = seed;
    for (int y = 0; y < p->ny; y++) {
        float *row = p->v + (size_t)y * p->nx;
        float ramp = 40.0f + 0.01f * (float)y;
        for (int x = 0; x < p->nx; x++) {
            s = s * 1664525u + 1013904223u;
            row[x] = ramp + (float)(s >> 24) * 0.125f;
        }
    }
    for (int k = 0; k < 400; k++) {
        s = s * 1664525u + 1013904223u;
        int x = 4 + (int)(s >> 8) % (p->nx - 8);
        s = s * 1664525u + 1013904223u;
        int y = 4 + (int)(s >> 8) % (p->ny - 8);
        for (int j = -2; j <= 2; j++)
            for (int i = -2; i <= 2; i++)
                p->v[(size_t)(y + j) * p->nx + x + i] += 900.0f / (1.0f + (float)(i * i + j * j));
    }
}

static void fluxes(const plane *img, plane *fx, plane *fy, float k2)
{
    int nx = img->nx, ny = img->ny;
    for (int y = 0; y < ny; y++) {
        const float *row = img->v + (size_t)y * nx;
        const float *up = y + 1 < ny ? row + nx : row;
        float *restrict hx = fx->v + (size_t)y * nx;
        float *restrict hy = fy->v + (size_t)y * nx;
        for (int x = 0; x < nx - 1; x++) {
            float dx = row[x + 1] - row[x];
            float dy = up[x] - row[x];
            hx[x] = dx * k2 / (k2 + dx * dx);
            hy[x] = dy * k2 / (k2 + dy * dy);
        }
        float dy = up[nx - 1] - row[nx - 1];
        hx[nx - 1] = 0.0f;
        hy[nx - 1] = dy * k2 / (k2 + dy * dy);
    }
}

static void gather(plane *img, const plane *fx, const plane *fy, float dt)
{
    int nx = img->nx;
    for (int y = 0; y < img->ny; y++) {
        float *restrict row = img->v + (size_t)y * nx;
        const float *hx = fx->v + (size_t)y * nx;
        const float *hy = fy->v + (size_t)y * nx;
        const float *below = y > 0 ? hy - nx : NULL;
        row[0] += dt * (hx[0] + hy[0] - (below ? below[0] : 0.0f));
        if (below)
            for (int x = 1; x < nx; x++)
                row[x] += dt * (hx[x] - hx[x - 1] + hy[x] - below[x]);
        else
            for (int x = 1; x < nx; x++)
                row[x] += dt * (hx[x] - hx[x - 1] + hy[x]);
    }
}

static void relax(plane *img, float k2, float dt)
{
    static plane *fx, *fy;
    if (!fx) {
        fx = plane_new(img->nx, img->ny);
        fy = plane_new(img->nx, img->ny);
    }
    fluxes(img, fx, fy, k2);
    gather(img, fx, fy, dt);
}

static summary measure(const plane *p)
{
    summary s = {0.0, 0.0, 0.0f};
    size_t n = (size_t)p->nx * p->ny;
    double sq = 0.0;
    for (size_t i = 0; i < n; i++) {
        double v = p->v[i];
        s.mean += v;
        sq += v * v;
        if (p->v[i] > s.peak)
            s.peak = p->v[i];
    }
    s.mean /= (double)n;
    s.contrast = sqrt(sq / (double)n - s.mean * s.mean);
    return s;
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 3000;
    int steps = argc > 2 ? atoi(argv[2]) : 40;
    plane *img = plane_new(side, side);
    expose(img, 20231u);
    for (int k = 0; k < steps; k++)
        relax(img, 64.0f, 0.2f);
    summary s = measure(img);
    printf("mean %.6f contrast %.6f peak %.4f\n", s.mean, s.contrast, s.peak);
    plane_free(img);
    return 0;
}
