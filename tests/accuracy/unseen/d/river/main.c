/* Salt in a long estuary: along-channel diffusion is implicit (one
 * tridiagonal system per column of the cross-section), the rest explicit.
 * The channel is cut into reaches, one per process, ordered seaward. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NREACH 192              /* cells along the channel, per process */
#define NWIDTH 48
#define NDEPTH 32
#define NLINES (NWIDTH * NDEPTH)

typedef struct {
    int rank, size;
    int up, down;               /* neighbours, or MPI_PROC_NULL */
    double kx, kz, dt;
    double river, sea;
} reach_t;

static double salt[NLINES][NREACH];
static double work[NLINES][NREACH];
static double cprime[NLINES][NREACH];
static double kdisp[NREACH];
static double head_in[NLINES][2], head_out[NLINES][2];
static double tail_in[NLINES], tail_out[NLINES];

static void reach_init(reach_t *r)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    r->up = r->rank > 0 ? r->rank - 1 : MPI_PROC_NULL;
    r->down = r->rank < r->size - 1 ? r->rank + 1 : MPI_PROC_NULL;
    r->kx = 0.9;
    r->kz = 0.08;
    r->dt = 1.0;
    r->river = 0.0;
    r->sea = 35.0;
    int n = NREACH * r->size;
    for (int i = 0; i < NREACH; i++) {
        double s = (double)(r->rank * NREACH + i) / n;
        kdisp[i] = r->kx * (0.5 + s);
        for (int l = 0; l < NLINES; l++)
            salt[l][i] = r->sea * s * s * (1.0 + 0.1 * (l % NDEPTH) / NDEPTH);
    }
}

/* Exchange between layers and across the width, inside one cross-section. */
static void stir(const reach_t *r)
{
    for (int w = 0; w < NWIDTH; w++) {
        for (int d = 0; d < NDEPTH; d++) {
            int l = w * NDEPTH + d;
            int a = d > 0 ? l - 1 : l, b = d < NDEPTH - 1 ? l + 1 : l;
            int e = w > 0 ? l - NDEPTH : l, f = w < NWIDTH - 1 ? l + NDEPTH : l;
            for (int i = 0; i < NREACH; i++)
                work[l][i] = salt[l][i] + r->kz * (salt[a][i] + salt[b][i]
                           + salt[e][i] + salt[f][i] - 4.0 * salt[l][i]);
        }
    }
    memcpy(salt, work, sizeof salt);
}

static void eliminate(const reach_t *r, int first, int count)
{
    for (int l = first; l < first + count; l++) {
        double cp = r->rank ? head_in[l][0] : 0.0;
        double dp = r->rank ? head_in[l][1] : r->river;
        double *c = cprime[l], *x = salt[l];
        for (int i = 0; i < NREACH; i++) {
            double a = kdisp[i] * r->dt;
            double m = 1.0 / (1.0 + 2.0 * a - a * cp);
            cp = a * m;
            dp = (x[i] + a * dp) * m;
            c[i] = cp;
            x[i] = dp;
        }
        head_out[l][0] = cp;
        head_out[l][1] = dp;
    }
}

static void substitute(const reach_t *r, int first, int count)
{
    for (int l = first; l < first + count; l++) {
        double next = r->rank < r->size - 1 ? tail_in[l] : r->sea;
        double *c = cprime[l], *x = salt[l];
        for (int i = NREACH - 1; i >= 0; i--) {
            next = x[i] + c[i] * next;
            x[i] = next;
        }
        tail_out[l] = next;
    }
}

static void disperse(const reach_t *r)
{
    MPI_Recv(head_in, 2 * NLINES, MPI_DOUBLE, r->up, 11,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    eliminate(r, 0, NLINES);
    MPI_Send(head_out, 2 * NLINES, MPI_DOUBLE, r->down, 11, MPI_COMM_WORLD);

    MPI_Recv(tail_in, NLINES, MPI_DOUBLE, r->down, 12,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    substitute(r, 0, NLINES);
    MPI_Send(tail_out, NLINES, MPI_DOUBLE, r->up, 12, MPI_COMM_WORLD);
}

static double inventory(void)
{
    double sum = 0.0, all = 0.0;
    for (int l = 0; l < NLINES; l++)
        for (int i = 0; i < NREACH; i++)
            sum += salt[l][i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    reach_t reach;
    MPI_Init(&argc, &argv);
    int nstep = argc > 1 ? atoi(argv[1]) : 600;

    reach_init(&reach);
    for (int n = 0; n < nstep; n++) {
        stir(&reach);
        disperse(&reach);
    }
    double total = inventory();
    if (reach.rank == 0)
        printf("salt after %d tides: %.8e  head %.8f\n", nstep, total, salt[5][NREACH / 2]);
    MPI_Finalize();
    return 0;
}
