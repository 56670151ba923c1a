#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int nx, ny, pitch;
    int west, east;
    double *now, *next;
} Basin;

static double *cell(double *f, const Basin *b, int j, int i)
{
    return f + (size_t)j * b->pitch + i;
}

static void basin_open(Basin *b, int nx_total, int ny, int rank, int ranks)
{
    b->nx = nx_total / ranks;
    b->ny = ny;
    b->pitch = b->nx + 2;
    b->west = (rank + ranks - 1) % ranks;
    b->east = (rank + 1) % ranks;
    size_t n = (size_t)b->pitch * (ny + 2);
    b->now = calloc(n, sizeof(double));
    b->next = calloc(n, sizeof(double));
    for (int j = 1; j <= ny; j++)
        for (int i = 1; i <= b->nx; i++) {
            double x = (rank * b->nx + i - 0.5) / nx_total;
            double y = (j - 0.5) / ny;
            double d = (x - 0.3) * (x - 0.3) + (y - 0.5) * (y - 0.5);
            *cell(b->now, b, j, i) = exp(-80.0 * d);
        }
}

static void basin_close(Basin *b)
{
    free(b->now);
    free(b->next);
}

static void walls(Basin *b)
{
    double *f = b->now;
    for (int i = 1; i <= b->nx; i++) {
        *cell(f, b, 0, i) = *cell(f, b, 1, i);
        *cell(f, b, b->ny + 1, i) = *cell(f, b, b->ny, i);
    }
}

static void exchange(Basin *b)
{
    double *f = b->now;
    for (int j = 1; j <= b->ny; j++) {
        MPI_Sendrecv(cell(f, b, j, b->nx), 1, MPI_DOUBLE, b->east, 2 * j,
                     cell(f, b, j, 0), 1, MPI_DOUBLE, b->west, 2 * j,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(cell(f, b, j, 1), 1, MPI_DOUBLE, b->west, 2 * j + 1,
                     cell(f, b, j, b->nx + 1), 1, MPI_DOUBLE, b->east, 2 * j + 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void transport(Basin *b, double u, double kappa)
{
    for (int j = 1; j <= b->ny; j++) {
        const double *s = cell(b->now, b, j - 1, 0);
        const double *c = cell(b->now, b, j, 0);
        const double *n = cell(b->now, b, j + 1, 0);
        double *restrict out = cell(b->next, b, j, 0);
        for (int i = 1; i <= b->nx; i++) {
            double lap = c[i - 1] + c[i + 1] + s[i] + n[i] - 4.0 * c[i];
            double adv = c[i] - c[i - 1];
            out[i] = c[i] - u * adv + kappa * lap;
        }
    }
    double *t = b->now;
    b->now = b->next;
    b->next = t;
}

static double content(Basin *b)
{
    double sum = 0.0, all = 0.0;
    for (int j = 1; j <= b->ny; j++)
        for (int i = 1; i <= b->nx; i++)
            sum += *cell(b->now, b, j, i);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int nx = argc > 1 ? atoi(argv[1]) : 256;
    int ny = argc > 2 ? atoi(argv[2]) : 400;
    int steps = argc > 3 ? atoi(argv[3]) : 2000;
    Basin b;
    basin_open(&b, nx, ny, rank, ranks);
    for (int t = 1; t <= steps; t++) {
        walls(&b);
        exchange(&b);
        transport(&b, 0.2, 0.1);
        if (t % 500 == 0) {
            double m = content(&b);
            if (rank == 0)
                printf("step %d content %.9f\n", t, m);
        }
    }
    double probe = *cell(b.now, &b, ny / 2, b.nx / 2), top = 0.0;
    MPI_Reduce(&probe, &top, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("probe %.9f\n", top);
    basin_close(&b);
    MPI_Finalize();
    return 0;
}
