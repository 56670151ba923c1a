#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int rank, ranks;
    int rows, cols;
    int pitch;
    double *t, *next;
} Plate;

static double *at(const Plate *p, double *f, int row, int col)
{
    return f + (size_t)row * p->pitch + col;
}

static Plate plate_new(int rows, int cols)
{
    Plate p;
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    p.rows = rows;
    p.cols = cols / p.ranks;
    p.pitch = p.cols + 2;
    size_t n = (size_t)(rows + 2) * p.pitch;
    p.t = calloc(n, sizeof(double));
    p.next = calloc(n, sizeof(double));
    return p;
}

static void ignite(Plate *p)
{
    for (int r = 0; r < p->rows + 2; r++)
        for (int c = 0; c < p->pitch; c++) {
            double x = (double)(p->rank * p->cols + c) / (p->ranks * p->cols);
            double y = (double)r / p->rows;
            double d = (x - 0.47) * (x - 0.47) + (y - 0.52) * (y - 0.52);
            *at(p, p->t, r, c) = 300.0 + 900.0 * exp(-40.0 * d);
        }
    memcpy(p->next, p->t, sizeof(double) * (size_t)(p->rows + 2) * p->pitch);
}

static void trade(const Plate *p, const double *mine, double *theirs, int peer, int tag)
{
    MPI_Sendrecv(mine, 1, MPI_DOUBLE, peer, tag, theirs, 1, MPI_DOUBLE, peer, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void seam(Plate *p, int inner, int outer, int peer)
{
    if (peer < 0 || peer >= p->ranks)
        return;
    for (int r = 1; r <= p->rows; r++)
        trade(p, at(p, p->t, r, inner), at(p, p->t, r, outer), peer, r & 15);
}

static void conduct(Plate *p, double k)
{
    for (int r = 1; r <= p->rows; r++) {
        const double *up = at(p, p->t, r - 1, 0);
        const double *mid = at(p, p->t, r, 0);
        const double *down = at(p, p->t, r + 1, 0);
        double *restrict out = at(p, p->next, r, 0);
        for (int c = 1; c <= p->cols; c++)
            out[c] = mid[c] + k * (up[c] + down[c] + mid[c - 1] + mid[c + 1] - 4.0 * mid[c]);
    }
    double *swap = p->t;
    p->t = p->next;
    p->next = swap;
}

static double hottest(const Plate *p)
{
    double local = 0.0, all;
    for (int r = 1; r <= p->rows; r++)
        for (int c = 1; c <= p->cols; c++)
            if (*at(p, p->t, r, c) > local)
                local = *at(p, p->t, r, c);
    MPI_Allreduce(&local, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static double total(const Plate *p)
{
    double local = 0.0, all;
    for (int r = 1; r <= p->rows; r++) {
        double s = 0.0;
        for (int c = 1; c <= p->cols; c++)
            s += *at(p, p->t, r, c);
        local += s;
    }
    MPI_Allreduce(&local, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rows = argc > 1 ? atoi(argv[1]) : 900;
    int cols = argc > 2 ? atoi(argv[2]) : 400;
    int steps = argc > 3 ? atoi(argv[3]) : 2000;
    Plate p = plate_new(rows, cols);
    ignite(&p);
    for (int s = 1; s <= steps; s++) {
        seam(&p, 1, 0, p.rank - 1);
        seam(&p, p.cols, p.cols + 1, p.rank + 1);
        conduct(&p, 0.2);
        if (s % (steps / 4) == 0) {
            double top = hottest(&p), mean = total(&p) / ((double)rows * p.cols * p.ranks);
            if (p.rank == 0)
                printf("step %d peak %.8f mean %.8f\n", s, top, mean);
        }
    }
    free(p.t);
    free(p.next);
    MPI_Finalize();
    return 0;
}
