#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { float x, y, z; } atom;

static int me, np;

static atom *fold(int n)
{
    atom *a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++) {
        a[i].x = 20.0f * sinf(0.37f * i);
        a[i].y = 20.0f * cosf(0.23f * i);
        a[i].z = 0.004f * i;
    }
    return a;
}

static double pair(const atom *p, const atom *q)
{
    float dx = p->x - q->x, dy = p->y - q->y, dz = p->z - q->z;
    double r2 = dx * dx + dy * dy + dz * dz + 0.5f;
    double s6 = 1.0 / (r2 * r2 * r2);
    return 4.0 * (s6 * s6 - s6) + exp(-0.1 * r2);
}

static double energy(const atom *a, int n)
{
    int first = (int)((long)n * me / np);
    int last = (int)((long)n * (me + 1) / np);
    double e = 0.0, sum;
    for (int i = first; i < last; i++)
        for (int j = 0; j < i; j++)
            e += pair(&a[i], &a[j]);
    MPI_Allreduce(&e, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    int n = argc > 1 ? atoi(argv[1]) : 8000;
    int frames = argc > 2 ? atoi(argv[2]) : 12;
    atom *a = fold(n);
    double total = 0.0;
    for (int f = 0; f < frames; f++) {
        total += energy(a, n);
        for (int i = 0; i < n; i++)
            a[i].z += 0.001f * (i % 5);
    }
    if (me == 0)
        printf("checksum %.7e\n", total);
    free(a);
    MPI_Finalize();
    return 0;
}
