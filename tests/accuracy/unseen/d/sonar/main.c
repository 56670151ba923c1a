/* Sound pulse over a sloping sea floor: pressure wave equation, fourth order
 * in space, second in time; the depth is cut into slabs, one per process. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NRANGE 512
#define HALO 2
#define LD (NRANGE + 2 * 8)

typedef struct {
    int rank, size, up, down;
    int nz, z0;                     /* own rows, first global row */
    float *restrict now;
    float *restrict old;
    float *restrict courant;        /* (c dt / dx)^2 */
    float taper[NRANGE];
} slab_t;

static float *plane(int nz)
{
    size_t bytes = (size_t)(nz + 2 * HALO) * LD * sizeof(float);
    float *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(p, 0, bytes);
    return p;
}

static float *row(float *p, int k) { return p + (size_t)(k + HALO) * LD + 8; }

static void slab_init(slab_t *s, int depth)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->up = s->rank ? s->rank - 1 : MPI_PROC_NULL;
    s->down = s->rank < s->size - 1 ? s->rank + 1 : MPI_PROC_NULL;
    int q = depth / s->size, r = depth % s->size;
    s->nz = q + (s->rank < r);
    s->z0 = s->rank * q + (s->rank < r ? s->rank : r);
    s->now = plane(s->nz);
    s->old = plane(s->nz);
    s->courant = plane(s->nz);
    for (int k = 0; k < s->nz; k++) {
        int z = s->z0 + k;
        for (int i = 0; i < NRANGE; i++) {
            int floor_at = depth * 3 / 4 - i / 8;
            float c = z > floor_at ? 1.15f : 0.98f + 0.04f * z / depth;
            row(s->courant, k)[i] = 0.2f * c * c;
            float dx = (float)(i - 100), dz = (float)(z - depth / 3);
            row(s->now, k)[i] = expf(-(dx * dx + dz * dz) / 30.0f);
        }
        memcpy(row(s->old, k), row(s->now, k), NRANGE * sizeof(float));
    }
    for (int i = 0; i < NRANGE; i++) {
        int e = i < NRANGE - 1 - i ? i : NRANGE - 1 - i;
        s->taper[i] = e < 24 ? 1.0f - 0.0004f * (24 - e) * (24 - e) / 24.0f : 1.0f;
    }
}

static void advance_rows(slab_t *s, int first, int last)
{
    const float c0 = -5.0f, c1 = 4.0f / 3.0f, c2 = -1.0f / 12.0f;
    const float *restrict taper = s->taper;
    for (int k = first; k < last; k++) {
        const float *restrict a2 = row(s->now, k - 2), *restrict a1 = row(s->now, k - 1);
        const float *restrict p = row(s->now, k);
        const float *restrict b1 = row(s->now, k + 1), *restrict b2 = row(s->now, k + 2);
        const float *restrict c = row(s->courant, k);
        float *restrict o = row(s->old, k);
        for (int i = 0; i < NRANGE; i++) {
            float lap = c0 * p[i] + c1 * ((p[i - 1] + p[i + 1]) + (a1[i] + b1[i]))
                      + c2 * ((p[i - 2] + p[i + 2]) + (a2[i] + b2[i]));
            o[i] = taper[i] * (2.0f * p[i] - taper[i] * o[i] + c[i] * lap);
        }
    }
}

static void advance(slab_t *s)
{
    MPI_Request req[4];
    const int n = HALO * LD;
    MPI_Irecv(row(s->now, -HALO) - 8, n, MPI_FLOAT, s->up, 1, MPI_COMM_WORLD, &req[0]);
    MPI_Irecv(row(s->now, s->nz) - 8, n, MPI_FLOAT, s->down, 2, MPI_COMM_WORLD, &req[1]);
    MPI_Isend(row(s->now, 0) - 8, n, MPI_FLOAT, s->up, 2, MPI_COMM_WORLD, &req[2]);
    MPI_Isend(row(s->now, s->nz - HALO) - 8, n, MPI_FLOAT, s->down, 1, MPI_COMM_WORLD, &req[3]);
    advance_rows(s, HALO, s->nz - HALO);
    MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
    advance_rows(s, 0, HALO);
    advance_rows(s, s->nz - HALO, s->nz);
    float *t = s->now;
    s->now = s->old;
    s->old = t;
}

int main(int argc, char **argv)
{
    static slab_t slab;
    MPI_Init(&argc, &argv);
    int depth = 480;
    int nstep = argc > 1 ? atoi(argv[1]) : 30000;

    slab_init(&slab, depth);
    for (int n = 0; n < nstep; n++)
        advance(&slab);

    double sum[2] = { 0.0, 0.0 }, all[2];
    for (int k = 0; k < slab.nz; k++) {
        for (int i = 0; i < NRANGE; i++) {
            double p = row(slab.now, k)[i];
            sum[0] += p * p;
            sum[1] += fabs(p);
        }
    }
    MPI_Reduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (slab.rank == 0)
        printf("steps %d  energy %.6e  level %.6e\n", nstep, all[0], all[1]);
    free(slab.now);
    free(slab.old);
    free(slab.courant);
    MPI_Finalize();
    return 0;
}
