#include <stdio.h>
#include <stdlib.h>
#include <math.h>

typedef struct {
    int nx, ny, nz;
    double *v;
} Field;

typedef struct {
    double dt;
    double dz;
    double kz;
    double w;
} Params;

static Field field_new(int nx, int ny, int nz)
{
    Field f = {nx, ny, nz, NULL};
    f.v = malloc((size_t)nx * ny * nz * sizeof(double));
    if (!f.v)
        exit(1);
    return f;
}

static inline double *cell(const Field *f, int i, int j, int k)
{
    return &f->v[((size_t)k * f->ny + j) * f->nx + i];
}

static void set_initial(Field *f)
{
    for (int k = 0; k < f->nz; k++)
        for (int j = 0; j < f->ny; j++)
            for (int i = 0; i < f->nx; i++) {
                double d = (double)k / f->nz;
                *cell(f, i, j, k) = 4.0 + 16.0 * (1.0 - d) * (1.0 - d)
                                  + 0.01 * ((i * 7 + j * 13 + k) % 29);
            }
}

static double flux(double upper, double lower, const Params *p)
{
    double diff = p->kz * (lower - upper) / p->dz;
    double adv = p->w * 0.5 * (upper + lower);
    return diff + adv;
}

static void mix_columns(const Field *t, Field *out, const Params *p)
{
    double c = p->dt / p->dz;
    for (int j = 0; j < t->ny; j++)
        for (int i = 0; i < t->nx; i++)
            for (int k = 0; k < t->nz; k++) {
                double here = *cell(t, i, j, k);
                double top = 0.0, bottom = 0.0;
                if (k > 0)
                    top = flux(*cell(t, i, j, k - 1), here, p);
                if (k < t->nz - 1)
                    bottom = flux(here, *cell(t, i, j, k + 1), p);
                *cell(out, i, j, k) = here + c * (bottom - top);
            }
}

static void heat_surface(Field *t, int step)
{
    double q = 0.02 * sin(0.26 * step);
    for (int j = 0; j < t->ny; j++)
        for (int i = 0; i < t->nx; i++)
            *cell(t, i, j, 0) += q * (1.0 + 0.001 * j);
}

static void swap_fields(Field *a, Field *b)
{
    double *s = a->v;
    a->v = b->v;
    b->v = s;
}

static void layer_means(const Field *t)
{
    for (int k = 0; k < t->nz; k += 10) {
        double sum = 0.0;
        for (int j = 0; j < t->ny; j++)
            for (int i = 0; i < t->nx; i++)
                sum += *cell(t, i, j, k);
        printf("layer %2d  mean %.9f\n", k, sum / ((double)t->nx * t->ny));
    }
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 12;
    int nx = argc > 2 ? atoi(argv[2]) : 320;
    int ny = argc > 3 ? atoi(argv[3]) : 240;
    Params p = {60.0, 5.0, 0.02, 0.0005};
    Field t = field_new(nx, ny, 60);
    Field next = field_new(nx, ny, 60);
    set_initial(&t);
    for (int s = 0; s < steps; s++) {
        heat_surface(&t, s);
        mix_columns(&t, &next, &p);
        swap_fields(&t, &next);
    }
    layer_means(&t);
    free(t.v);
    free(next.v);
    return 0;
}
