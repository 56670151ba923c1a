/* Collisional star cluster, direct summation, leapfrog (KDK).
 * Every rank owns N/P stars and sees the positions of all. */
#include <immintrin.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NMAX 4096
#ifndef TILE
#define TILE 2
#endif

static float px[NMAX] __attribute__((aligned(64)));
static float py[NMAX] __attribute__((aligned(64)));
static float pz[NMAX] __attribute__((aligned(64)));
static float gm[NMAX] __attribute__((aligned(64)));

typedef struct {
    int first, count;
    float *x, *y, *z, *vx, *vy, *vz, *ax, *ay, *az, *pot;
} stars_t;

static float *row(int n)
{
    float *p = aligned_alloc(64, sizeof(float) * (size_t)n);
    if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(p, 0, sizeof(float) * (size_t)n);
    return p;
}

static void stars_init(stars_t *s, int rank, int size)
{
    int n = NMAX / size;
    s->first = rank * n;
    s->count = n;
    float **f[] = {&s->x, &s->y, &s->z, &s->vx, &s->vy, &s->vz, &s->ax, &s->ay, &s->az, &s->pot};
    for (size_t k = 0; k < sizeof f / sizeof *f; k++) *f[k] = row(n);
    srand48(1907);
    for (int i = 0; i < NMAX; i++) {
        /* Plummer sphere */
        double m = 0.02 + 0.95 * drand48();
        double r = 1.0 / sqrt(pow(m, -2.0 / 3.0) - 1.0);
        double c = 2.0 * drand48() - 1.0, ph = 6.283185307 * drand48();
        double q = sqrt(1.0 - c * c);
        double ve = 0.4 * sqrt(2.0) * pow(1.0 + r * r, -0.25);
        double c2 = 2.0 * drand48() - 1.0, ph2 = 6.283185307 * drand48();
        double q2 = sqrt(1.0 - c2 * c2);
        gm[i] = (0.5 + drand48()) / NMAX;
        int k = i - s->first;
        if (k < 0 || k >= n) continue;
        s->x[k] = r * q * cos(ph);
        s->y[k] = r * q * sin(ph);
        s->z[k] = r * c;
        s->vx[k] = ve * q2 * cos(ph2);
        s->vy[k] = ve * q2 * sin(ph2);
        s->vz[k] = ve * c2;
    }
}

static void share_positions(const stars_t *s)
{
    MPI_Allgather(s->x, s->count, MPI_FLOAT, px, s->count, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Allgather(s->y, s->count, MPI_FLOAT, py, s->count, MPI_FLOAT, MPI_COMM_WORLD);
    MPI_Allgather(s->z, s->count, MPI_FLOAT, pz, s->count, MPI_FLOAT, MPI_COMM_WORLD);
}

/* With w = 2 / r (one Newton step, its factor left in) the sums below are
 * phi = -1/2 sum m w  and  a = 1/8 sum m w^3 d. */
static void accelerations(stars_t *s, float eps2)
{
    const __m512 soft = _mm512_set1_ps(eps2), three = _mm512_set1_ps(3.0f);
    for (int i = 0; i < s->count; i += TILE) {
        __m512 xi[TILE], yi[TILE], zi[TILE], ax[TILE], ay[TILE], az[TILE], phi[TILE];
        for (int c = 0; c < TILE; c++) {
            xi[c] = _mm512_set1_ps(s->x[i + c]);
            yi[c] = _mm512_set1_ps(s->y[i + c]);
            zi[c] = _mm512_set1_ps(s->z[i + c]);
            ax[c] = ay[c] = az[c] = phi[c] = _mm512_setzero_ps();
        }
        for (int j = 0; j < NMAX; j += 16) {
            const __m512 xj = _mm512_load_ps(px + j), yj = _mm512_load_ps(py + j);
            const __m512 zj = _mm512_load_ps(pz + j), mj = _mm512_load_ps(gm + j);
#pragma GCC unroll 8
            for (int c = 0; c < TILE; c++) {
                __m512 dx = xj - xi[c], dy = yj - yi[c], dz = zj - zi[c];
                __m512 r2 = _mm512_fmadd_ps(dx, dx, soft);
                r2 = _mm512_fmadd_ps(dy, dy, r2);
                r2 = _mm512_fmadd_ps(dz, dz, r2);
                __m512 w = _mm512_rsqrt14_ps(r2);
                w = w * _mm512_fnmadd_ps(r2 * w, w, three);
                __m512 mw = mj * w;
                __m512 mw3 = mw * (w * w);
                phi[c] += mw;
                ax[c] = _mm512_fmadd_ps(mw3, dx, ax[c]);
                ay[c] = _mm512_fmadd_ps(mw3, dy, ay[c]);
                az[c] = _mm512_fmadd_ps(mw3, dz, az[c]);
            }
        }
        for (int c = 0; c < TILE; c++) {
            s->ax[i + c] = 0.125f * _mm512_reduce_add_ps(ax[c]);
            s->ay[i + c] = 0.125f * _mm512_reduce_add_ps(ay[c]);
            s->az[i + c] = 0.125f * _mm512_reduce_add_ps(az[c]);
            s->pot[i + c] = -0.5f * _mm512_reduce_add_ps(phi[c]);
        }
    }
}

;

static void kick(stars_t *s, float h)
{
    for (int i = 0; i < s->count; i++) {
        s->vx[i] += h * s->ax[i];
        s->vy[i] += h * s->ay[i];
        s->vz[i] += h * s->az[i];
    }
}

static void drift(stars_t *s, float h)
{
    for (int i = 0; i < s->count; i++) {
        s->x[i] += h * s->vx[i];
        s->y[i] += h * s->vy[i];
        s->z[i] += h * s->vz[i];
    }
}

static double energy(const stars_t *s)
{
    double e = 0, tot;
    for (int i = 0; i < s->count; i++) {
        double v2 = (double)s->vx[i] * s->vx[i] + (double)s->vy[i] * s->vy[i] + (double)s->vz[i] * s->vz[i];
        e += 0.5 * gm[s->first + i] * (v2 + s->pot[i]);
    }
    MPI_Allreduce(&e, &tot, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return tot;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 1000;
    const float dt = 1.0f / 512, eps2 = 1e-4f;
    stars_t s;
    stars_init(&s, rank, size);
    share_positions(&s);
    accelerations(&s, eps2);
    double e0 = energy(&s), worst = 0;
    for (int n = 1; n <= steps; n++) {
        kick(&s, 0.5f * dt);
        drift(&s, dt);
        share_positions(&s);
        accelerations(&s, eps2);
        kick(&s, 0.5f * dt);
        double de = fabs((energy(&s) - e0) / e0);
        if (de > worst) worst = de;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && n % 100 == 0) printf("t=%8.4f  dE/E=%.3e\n", n * dt, worst);
    }
    MPI_Finalize();
    return 0;
}
