/* Regional pollen transport: several taxa in a layered atmosphere, advected by
 * a prescribed wind with settling; the domain is cut into west-east strips. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TAXA 4
#define LAYERS 8
#define NY 60

typedef struct {
    int rank, size, west, east;
    int nx;                 /* own columns, 1..nx; 0 and nx+1 are ghosts */
    double *conc;           /* [x][y][layer][taxon] */
    double *next;
} strip;

static const double settle[TAXA] = {0.012, 0.020, 0.031, 0.045};

static size_t at(int x, int y, int l)
{
    return (((size_t)x * NY + y) * LAYERS + l) * TAXA;
}

static void strip_init(strip *s, int nx_total)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->west = s->rank > 0 ? s->rank - 1 : MPI_PROC_NULL;
    s->east = s->rank < s->size - 1 ? s->rank + 1 : MPI_PROC_NULL;
    s->nx = nx_total / s->size;
    size_t n = at(s->nx + 2, 0, 0);
    s->conc = calloc(n, sizeof(double));
    s->next = calloc(n, sizeof(double));
}

/* stands of trees release pollen into the lowest layer */
static void emit(strip *s, double hour)
{
    double sun = fmax(0.0, sin((hour - 6.0) * M_PI / 12.0));
    int x0 = s->rank * s->nx;
    for (int x = 1; x <= s->nx; x++)
        for (int y = 0; y < NY; y++) {
            int stand = ((x0 + x) / 5 + y / 7) % 3;
            double *c = s->conc + at(x, y, 0);
            for (int t = 0; t < TAXA; t++)
                c[t] += (t % 3 == stand) ? sun * (1.0 + 0.2 * t) : 0.0;
        }
}

static void share_column(const double *mine, int to, double *theirs, int from, int tag)
{
    for (int y = 0; y < NY; y++)
        for (int l = 0; l < LAYERS; l++)
            MPI_Sendrecv(mine + at(0, y, l), TAXA, MPI_DOUBLE, to, tag + l, theirs + at(0, y, l), TAXA, MPI_DOUBLE,
                         from, tag + l, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void share_edges(strip *s)
{
    share_column(s->conc + at(s->nx, 0, 0), s->east, s->conc + at(0, 0, 0), s->west, 100);
    share_column(s->conc + at(1, 0, 0), s->west, s->conc + at(s->nx + 1, 0, 0), s->east, 200);
}

static void transport(strip *s, double hour)
{
    const double swing = 0.12 * cos(hour * 0.26);
    for (int x = 1; x <= s->nx; x++)
        for (int y = 0; y < NY; y++)
            for (int l = 0; l < LAYERS; l++) {
                double u = 0.30 * (0.4 + 0.08 * l), v = swing * (1 + 0.1 * l);
                const double *c = s->conc + at(x, y, l);
                const double *w = s->conc + at(x - 1, y, l);
                const double *e = s->conc + at(x + 1, y, l);
                const double *n = s->conc + at(x, y + 1 < NY ? y + 1 : y, l);
                const double *o = s->conc + at(x, y > 0 ? y - 1 : y, l);
                const double *up = l + 1 < LAYERS ? s->conc + at(x, y, l + 1) : NULL;
                const double *dn = l > 0 ? s->conc + at(x, y, l - 1) : NULL;
                double *r = s->next + at(x, y, l);
                for (int t = 0; t < TAXA; t++) {
                    double a = c[t] - u * (c[t] - w[t]) + 0.02 * (w[t] + e[t] - 2 * c[t]);
                    a -= v > 0 ? v * (c[t] - o[t]) : v * (n[t] - c[t]);
                    a -= settle[t] * c[t];
                    if (up)
                        a += settle[t] * up[t] + 0.05 * (up[t] - c[t]);
                    if (dn)
                        a += 0.05 * (dn[t] - c[t]);
                    r[t] = a;
                }
            }
    double *swap = s->conc;
    s->conc = s->next;
    s->next = swap;
}

static void summary(const strip *s, double hour)
{
    double part[TAXA] = {0}, all[TAXA];
    for (int x = 1; x <= s->nx; x++)
        for (int y = 0; y < NY; y++)
            for (int l = 0; l < LAYERS; l++)
                for (int t = 0; t < TAXA; t++)
                    part[t] += s->conc[at(x, y, l) + t];
    MPI_Reduce(part, all, TAXA, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (s->rank == 0)
        printf("hour %7.2f  alder %.4f  birch %.4f  oak %.4f  pine %.4f\n", hour, all[0], all[1], all[2], all[3]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    strip s;
    strip_init(&s, 40);
    const int steps = 14400;
    for (int i = 1; i <= steps; i++) {
        double hour = i * 0.02;
        if (i % 10 == 1)
            emit(&s, fmod(hour, 24.0));
        share_edges(&s);
        transport(&s, hour);
        if (i % 1800 == 0)
            summary(&s, hour);
    }
    free(s.conc);
    free(s.next);
    MPI_Finalize();
    return 0;
}
