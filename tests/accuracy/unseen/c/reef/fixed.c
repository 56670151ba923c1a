#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int rank, size, up, down;
    int rows, cols;
    double *now, *next;
} patch_t;

static size_t at(const patch_t *p, int r, int c)
{
    return (size_t)r * p->cols + c;
}

static void patch_init(patch_t *p, int rows, int cols)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    p->up = (p->rank + p->size - 1) % p->size;
    p->down = (p->rank + 1) % p->size;
    p->rows = rows / p->size;
    p->cols = cols;
    size_t n = (size_t)(p->rows + 2) * cols;
    p->now = calloc(n, sizeof(double));
    p->next = calloc(n, sizeof(double));
    for (int r = 1; r <= p->rows; r++)
        for (int c = 0; c < cols; c++) {
            long g = (long)(p->rank * p->rows + r) * 31 + c * 17;
            p->now[at(p, r, c)] = (double)(g % 101) / 101.0;
        }
}

static void hand_over(double *from, double *to, int n, int dst, int src, int tag)
{
    MPI_Sendrecv(from, n, MPI_DOUBLE, dst, tag, to, n, MPI_DOUBLE,
                 src, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void refresh(patch_t *p)
{
    double *top = p->now + at(p, 1, 0);
    double *bottom = p->now + at(p, p->rows, 0);
    hand_over(top, p->now + at(p, p->rows + 1, 0), p->cols, p->up, p->down, 1);
    hand_over(bottom, p->now, p->cols, p->down, p->up, 2);
}

static void grow(patch_t *p, double rate, double spread)
{
    int w = p->cols;
    for (int r = 1; r <= p->rows; r++) {
        const double *u = p->now + at(p, r - 1, 0);
        const double *m = p->now + at(p, r, 0);
        const double *d = p->now + at(p, r + 1, 0);
        double *o = p->next + at(p, r, 0);
        o[0] = m[0];
        o[w - 1] = m[w - 1];
        for (int c = 1; c < w - 1; c++) {
            double lap = u[c] + d[c] + m[c - 1] + m[c + 1] - 4.0 * m[c];
            o[c] = m[c] + spread * lap + rate * m[c] * (1.0 - m[c]);
        }
    }
    double *t = p->now;
    p->now = p->next;
    p->next = t;
}

static void harvest(patch_t *p, int step)
{
    if (step % 7)
        return;
    for (int r = 1 + step % 5; r <= p->rows; r += 5)
        for (int c = step % 11; c < p->cols; c += 11)
            p->now[at(p, r, c)] *= 0.5;
}

static double cover(const patch_t *p)
{
    double mine = 0.0, all = 0.0;
    for (int r = 1; r <= p->rows; r++)
        for (int c = 0; c < p->cols; c++)
            mine += p->now[at(p, r, c)];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int steps = argc > 1 ? atoi(argv[1]) : 500;
    patch_t p;
    patch_init(&p, 256, 2048);
    for (int s = 1; s <= steps; s++) {
        refresh(&p);
        grow(&p, 0.02, 0.1);
        harvest(&p, s);
        if (s % 200 == 0) {
            double a = cover(&p);
            if (p.rank == 0)
                printf("step %5d  cover %.10f\n", s, a / (256.0 * 2048.0));
        }
    }
    free(p.now);
    free(p.next);
    MPI_Finalize();
    return 0;
}
