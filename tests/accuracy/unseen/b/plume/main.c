#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int rank, size;
    int nx, ny;
    double *now, *then;
    double *wind;
} patch;

static double *field(size_t n)
{
    double *a = calloc(n, sizeof *a);
    if (!a)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return a;
}

static void set_up(patch *p, int nx, int ny)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    p->nx = nx / p->size;
    p->ny = ny;
    p->now = field((size_t)(p->nx + 1) * ny);
    p->then = field((size_t)(p->nx + 1) * ny);
    p->wind = field((size_t)ny);
    for (int j = 0; j < ny; j++)
        p->wind[j] = 1.0 + 0.5 * (double)(j % 17) / 17.0;
}

static void release(patch *p)
{
    free(p->now);
    free(p->then);
    free(p->wind);
}

static void inflow(patch *p, int step)
{
    if (p->rank > 0) {
        MPI_Recv(p->now, p->ny, MPI_DOUBLE, p->rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int j = 0; j < p->ny; j++)
        p->now[j] = j > p->ny / 3 && j < p->ny / 2 ? 1.0 + 0.25 * (step % 8) : 0.0;
}

static void outflow(const patch *p)
{
    if (p->rank < p->size - 1)
        MPI_Send(p->now + (size_t)p->nx * p->ny, p->ny, MPI_DOUBLE, p->rank + 1, 7, MPI_COMM_WORLD);
}

static double transport(patch *p, double dt)
{
    double peak = 0.0;
    int ny = p->ny;
    for (int i = 1; i <= p->nx; i++) {
        const double *west = p->now + (size_t)(i - 1) * ny;
        const double *here = p->now + (size_t)i * ny;
        double *out = p->then + (size_t)i * ny;
        for (int j = 0; j < ny; j++) {
            double south = j > 0 ? here[j - 1] : here[j];
            double north = j + 1 < ny ? here[j + 1] : here[j];
            double q = here[j];
            q -= dt * p->wind[j] * (here[j] - west[j]);
            q += 0.1 * dt * (south - 2.0 * here[j] + north);
            q -= 0.02 * dt * here[j] / (1.0 + here[j]);
            out[j] = q;
            if (q > peak)
                peak = q;
        }
    }
    return peak;
}

static double advance(patch *p, int step, double dt)
{
    double mine, all, *swap;

    inflow(p, step);
    mine = transport(p, dt);
    outflow(p);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    swap = p->now;
    p->now = p->then;
    p->then = swap;
    return 0.5 / (1.0 + 0.1 * all);
}

static double burden(const patch *p)
{
    double mine = 0.0, all = 0.0;
    for (size_t i = p->ny; i < (size_t)(p->nx + 1) * p->ny; i++)
        mine += p->now[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int nx, ny, steps;
    double dt = 0.4, mass;
    patch p;

    MPI_Init(&argc, &argv);
    nx = argc > 1 ? atoi(argv[1]) : 400;
    ny = argc > 2 ? atoi(argv[2]) : 1500;
    steps = argc > 3 ? atoi(argv[3]) : 1200;
    set_up(&p, nx, ny);
    for (int s = 0; s < steps; s++)
        dt = advance(&p, s, dt);
    mass = burden(&p);
    if (p.rank == 0)
        printf("mass %.12e\nstep %.12f\n", mass, dt);
    release(&p);
    MPI_Finalize();
    return 0;
}
