/* Oxygen and ammonium in a river with many reaches, split lengthwise among
 * the ranks.  Every hour each part needs the discharge that leaves its upper
 * neighbour in that hour, and the stage of its lower neighbour. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double q;           /* discharge, m3/s        */
    double stage;       /* m                      */
    double oxy, nh4;    /* mg/l                   */
    double temp;        /* deg C                  */
    double k;           /* routing coefficient    */
} Reach;

typedef struct {
    int n, rank, size;
    Reach *r;
    double inflow[3];   /* discharge, oxygen, ammonium from above */
    double backwater;   /* stage below                            */
    double burned;      /* oxygen turned over                     */
} Part;

enum { TAG_FLOW = 1, TAG_STAGE = 2 };

static void part_setup(Part *p, int total)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    int lo = (int)((long)total * p->rank / p->size);
    int hi = (int)((long)total * (p->rank + 1) / p->size);
    p->n = hi - lo;
    p->r = malloc(sizeof(Reach) * p->n);
    p->burned = 0;
    for (int i = 0; i < p->n; i++) {
        Reach *r = &p->r[i];
        int g = lo + i;
        r->q = 20.0;
        r->stage = 1.5;
        r->oxy = 9.0;
        r->nh4 = 0.4 + 0.3 * (g % 97 == 0);
        r->temp = 12.0 + 6.0 * g / total;
        r->k = 0.2 + 0.05 * sin(0.01 * g);
    }
}

static void route(Part *p, int hour)
{
    double in[3] = {p->inflow[0], p->inflow[1], p->inflow[2]};
    if (p->rank == 0) {
        in[0] = 20.0 + 8.0 * exp(-pow((hour % 120 - 40) / 12.0, 2.0));
        in[1] = 10.0;
        in[2] = 0.3;
    }
    for (int i = 0; i < p->n; i++) {
        Reach *r = &p->r[i];
        double below = i + 1 < p->n ? p->r[i + 1].stage : p->backwater;
        double drag = 1.0 / (1.0 + 0.05 * fmax(0.0, below - r->stage));
        double out[3] = {r->q, r->oxy, r->nh4};
        double mix = 0.3 * in[0] / (in[0] + r->q);
        r->q += r->k * drag * (in[0] - r->q);
        r->stage = 0.4 * sqrt(r->q);
        r->oxy += mix * (in[1] - r->oxy);
        r->nh4 += mix * (in[2] - r->nh4);
        in[0] = 0.5 * (out[0] + r->q);
        in[1] = out[1];
        in[2] = out[2];
    }
}

/* Monod kinetics, implicit in each of the twelve five-minute steps. */
static double react(Reach *r)
{
    const double dt = 1.0 / 288.0;
    double before = r->oxy;
    double kn = 1.8 * exp(0.08 * (r->temp - 20.0));
    double ka = 3.9 * sqrt(0.3) / pow(r->stage, 1.5);
    double sat = 14.6 - 0.39 * r->temp + 0.006 * r->temp * r->temp;
    for (int s = 0; s < 12; s++) {
        double o = r->oxy;
        for (int it = 0; it < 4; it++) {
            double m = o / (0.6 + o), a = r->nh4 / (0.8 + r->nh4);
            double rate = kn * m * a + 0.4 * (1.0 - exp(-0.3 * o));
            double slope = kn * a * 0.6 / ((0.6 + o) * (0.6 + o)) + 0.12 * exp(-0.3 * o);
            double f = o - r->oxy - dt * (ka * (sat - o) - 4.57 * rate);
            o -= f / (1.0 + dt * (ka + 4.57 * slope));
        }
        r->nh4 += dt * (0.05 - kn * r->nh4 / (0.8 + r->nh4) * o / (0.6 + o));
        r->nh4 = fmax(r->nh4, 0.0);
        r->oxy = fmax(o, 0.0);
    }
    return fabs(r->oxy - before);
}

static void quality(Part *p)
{
    for (int i = 0; i < p->n; i++)
        p->burned += react(&p->r[i]);
}

static void hour_step(Part *p, int hour)
{
    const int up = p->rank - 1, down = p->rank + 1;
    const Reach *last = &p->r[p->n - 1];
    if (down < p->size)
        MPI_Recv(&p->backwater, 1, MPI_DOUBLE, down, TAG_STAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        p->backwater = 1.6 + 0.4 * sin(0.506 * hour);
    double leaving[3] = {last->q, last->oxy, last->nh4};
    if (up >= 0)
        MPI_Recv(p->inflow, 3, MPI_DOUBLE, up, TAG_FLOW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    route(p, hour);
    leaving[0] = 0.5 * (leaving[0] + last->q);
    quality(p);

    if (down < p->size)
        MPI_Send(leaving, 3, MPI_DOUBLE, down, TAG_FLOW, MPI_COMM_WORLD);
    if (up >= 0)
        MPI_Send(&p->r[0].stage, 1, MPI_DOUBLE, up, TAG_STAGE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    Part p;
    part_setup(&p, 6000);
    if (p.rank > 0)
        MPI_Send(&p.r[0].stage, 1, MPI_DOUBLE, p.rank - 1, TAG_STAGE, MPI_COMM_WORLD);

    for (int hour = 0; hour < 480; hour++)
        hour_step(&p, hour);

    if (p.rank + 1 < p.size)
        MPI_Recv(&p.backwater, 1, MPI_DOUBLE, p.rank + 1, TAG_STAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double mine[4] = {0, 0, 0, p.burned}, all[4];
    for (int i = 0; i < p.n; i++) {
        mine[0] += p.r[i].q;
        mine[1] += p.r[i].oxy;
        mine[2] += p.r[i].nh4;
    }
    MPI_Reduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (p.rank == 0)
        printf("mean discharge %.6f oxygen %.6f ammonium %.6f turnover %.4f\n",
               all[0] / 6000, all[1] / 6000, all[2] / 6000, all[3]);
    free(p.r);
    MPI_Finalize();
    return 0;
}
