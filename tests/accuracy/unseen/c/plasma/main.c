#include <mpi.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BINS 64

struct species {
    int count;
    double *x;
    double *v;
};

static uint64_t scramble(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static double unit(uint64_t k)
{
    return (scramble(k) >> 11) * (1.0 / 9007199254740992.0);
}

static void load(struct species *s, int count, int rank)
{
    s->count = count;
    s->x = malloc(count * sizeof *s->x);
    s->v = malloc(count * sizeof *s->v);
    for (int p = 0; p < count; p++) {
        uint64_t id = (uint64_t)rank * count + p;
        s->x[p] = BINS * unit(3 * id);
        s->v[p] = 0.3 * (unit(3 * id + 1) - 0.5) + (id & 1 ? 0.2 : -0.2);
    }
}

static void release(struct species *s)
{
    free(s->x);
    free(s->v);
}

static double global(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void deposit(const struct species *s, double *rho)
{
    double local[BINS + 1] = {0};
    for (int p = 0; p < s->count; p++) {
        int b = (int)s->x[p];
        double f = s->x[p] - b;
        local[b] += 1.0 - f;
        local[b + 1] += f;
    }
    local[0] += local[BINS];
    for (int b = 0; b < BINS; b++)
        rho[b] = global(local[b]);
}

static void solve(const double *rho, double mean, double *field)
{
    double run = 0.0, offset = 0.0;
    for (int b = 0; b < BINS; b++) {
        double charge = rho[b] / mean - 1.0;
        field[b] = run + 0.5 * charge;
        run += charge;
        offset += field[b];
    }
    for (int b = 0; b < BINS; b++)
        field[b] -= offset / BINS;
    field[BINS] = field[0];
}

static void push(struct species *s, const double *field, double dt)
{
    for (int p = 0; p < s->count; p++) {
        int b = (int)s->x[p];
        double f = s->x[p] - b;
        double e = field[b] * (1.0 - f) + field[b + 1] * f;
        s->v[p] += dt * 0.1 * e;
        double x = s->x[p] + dt * s->v[p];
        x = x < 0.0 ? x + BINS : x;
        s->x[p] = x >= BINS ? x - BINS : x;
    }
}

static double kinetic(const struct species *s)
{
    double k = 0.0;
    for (int p = 0; p < s->count; p++)
        k += 0.5 * s->v[p] * s->v[p];
    return global(k);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int count = argc > 1 ? atoi(argv[1]) : 10000;
    int steps = argc > 2 ? atoi(argv[2]) : 1000;
    struct species s;
    double rho[BINS], field[BINS + 1];
    load(&s, count, rank);
    double mean = (double)count * ranks / BINS;
    for (int t = 1; t <= steps; t++) {
        deposit(&s, rho);
        solve(rho, mean, field);
        push(&s, field, 0.05);
        if (t % 2000 == 0) {
            double k = kinetic(&s);
            if (rank == 0)
                printf("%d kinetic %.8f field %.8f\n", t, k, field[BINS / 3]);
        }
    }
    release(&s);
    MPI_Finalize();
    return 0;
}
