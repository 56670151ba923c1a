/* Resolution sweep of a cryo-EM density map: the map is low-passed with ever
 * wider kernels, and the correlation with the model map is noted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGE 224

typedef struct {
    int n;
    float *rho;
} Volume;

static float *voxels(int n)
{
    float *p = malloc(sizeof(float) * n * n * n);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

static Volume vol_new(int n)
{
    Volume v = {n, voxels(n)};
    return v;
}

static size_t idx(const Volume *v, int z, int y)
{
    return ((size_t)z * v->n + y) * v->n;
}

static void vol_atoms(Volume *v, unsigned seed, int atoms, float noise)
{
    memset(v->rho, 0, sizeof(float) * v->n * v->n * v->n);
    unsigned s = seed;
    for (int a = 0; a < atoms; a++) {
        int c[3];
        for (int d = 0; d < 3; d++) {
            s = s * 1664525u + 1013904223u;
            c[d] = 20 + (int)((s >> 8) % (unsigned)(v->n - 40));
        }
        for (int dz = -3; dz <= 3; dz++)
            for (int dy = -3; dy <= 3; dy++)
                for (int dx = -3; dx <= 3; dx++)
                    v->rho[idx(v, c[0] + dz, c[1] + dy) + c[2] + dx] +=
                        expf(-0.4f * (dx * dx + dy * dy + dz * dz));
    }
    if (noise > 0)
        for (size_t k = 0; k < (size_t)v->n * v->n * v->n; k++) {
            s = s * 1664525u + 1013904223u;
            v->rho[k] += noise * ((float)(s >> 9) * 2.3841858e-7f - 1.0f);
        }
}

/* One binomial pass along y and z; the x direction is band-limited already. */
static void vol_lowpass(Volume *v, float w)
{
    const int n = v->n;
    const float a = 1.0f - 2.0f * w;
    float *tmp = voxels(n);

    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++) {
            const float *lo = v->rho + idx(v, z, y > 0 ? y - 1 : y);
            const float *mi = v->rho + idx(v, z, y);
            const float *hi = v->rho + idx(v, z, y < n - 1 ? y + 1 : y);
            float *out = tmp + idx(v, z, y);
            for (int x = 0; x < n; x++)
                out[x] = a * mi[x] + w * (lo[x] + hi[x]);
        }
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++) {
            const float *lo = tmp + idx(v, z > 0 ? z - 1 : z, y);
            const float *mi = tmp + idx(v, z, y);
            const float *hi = tmp + idx(v, z < n - 1 ? z + 1 : z, y);
            float *out = v->rho + idx(v, z, y);
            for (int x = 0; x < n; x++)
                out[x] = a * mi[x] + w * (lo[x] + hi[x]);
        }
    free(tmp);
}

static double vol_correlation(const Volume *p, const Volume *q)
{
    double pq = 0, pp = 0, qq = 0;
    for (int z = 0; z < p->n; z++)
        for (int y = 0; y < p->n; y++) {
            const float *a = p->rho + idx(p, z, y);
            const float *b = q->rho + idx(q, z, y);
            float spq = 0, spp = 0, sqq = 0;
            for (int x = 0; x < p->n; x++) {
                spq += a[x] * b[x];
                spp += a[x] * a[x];
                sqq += b[x] * b[x];
            }
            pq += spq;
            pp += spp;
            qq += sqq;
        }
    return pq / sqrt(pp * qq);
}

int main(void)
{
    Volume map = vol_new(EDGE), model = vol_new(EDGE);
    vol_atoms(&model, 5u, 4000, 0.0f);
    vol_atoms(&map, 5u, 4000, 0.8f);
    vol_lowpass(&model, 0.25f);

    printf("pass  correlation\n%4d  %.6f\n", 0, vol_correlation(&map, &model));
    for (int pass = 1; pass <= 90; pass++) {
        vol_lowpass(&map, 0.02f + 0.002f * (float)(pass / 10));
        if (pass % 10 == 0)
            printf("%4d  %.6f\n", pass, vol_correlation(&map, &model));
    }
    free(map.rho);
    free(model.rho);
    return 0;
}
