/* Photo-heated slab of interstellar gas: temperature and ionisation of each
 * parcel are sub-cycled with their own time scale, then conducted sideways. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NX 192
#define NY 160
#define NPARCEL (NX * NY)

typedef struct {
    double temp;    /* 10^4 K */
    double xion;    /* ionised fraction */
    double dens;    /* cm^-3 */
    double flux;    /* photons, in units of the incident beam */
} parcel_t;

typedef struct {
    double (*heating)(const parcel_t *);
    double (*cooling)(const parcel_t *);
    double recomb;
    double eps;
} chem_t;

static parcel_t slab[NPARCEL];
static double tnew[NPARCEL];

static double photo_heating(const parcel_t *p)
{
    return 9.0 * p->flux * (1.0 - p->xion) + 0.02;
}

static double line_cooling(const parcel_t *p)
{
    double t = p->temp;
    double metal = 1.6 * t * t / (0.3 + t * t);
    double lyman = 4.0 * (1.0 - p->xion) * t * t * t / (8.0 + t * t * t);
    double brems = 0.12 * p->xion * p->xion * sqrt(t);
    return p->dens * (metal * p->xion + lyman + brems);
}

static void setup(unsigned seed)
{
    unsigned s = seed;
    for (int i = 0; i < NX; i++) {
        for (int j = 0; j < NY; j++) {
            parcel_t *p = &slab[i * NY + j];
            s = s * 1664525u + 1013904223u;
            p->dens = 1.0 + 0.5 * (double)(s >> 8) / 16777216.0;
            p->temp = 0.05 + 0.01 * (double)((s >> 4) & 255) / 256.0;
            p->xion = 1e-3;
            p->flux = 0.0;
        }
    }
}

/* Beam enters at i = 0 and is absorbed on its way through the slab. */
static void trace_beam(double strength)
{
    for (int j = 0; j < NY; j++) {
        double left = strength;
        for (int i = 0; i < NX; i++) {
            parcel_t *p = &slab[i * NY + j];
            p->flux = left;
            left /= 1.0 + 0.035 * p->dens * (1.0 + 0.5 * (1.0 - p->xion));
        }
    }
}

static int relax_parcel(parcel_t *p, const chem_t *c, double dt)
{
    double left = dt;
    int n = 0;
    while (left > 0.0) {
        double dT = c->heating(p) - c->cooling(p);
        double dx = 12.0 * p->flux * (1.0 - p->xion)
                  - c->recomb * p->dens * p->xion * p->xion / (0.4 + p->temp);
        double rate = 12.0 * p->flux + c->recomb * p->dens
                    + fabs(dT) / p->temp;
        double h = c->eps / (rate + 1e-3);
        if (h > left)
            h = left;
        p->temp += h * dT;
        if (p->temp < 0.01)
            p->temp = 0.01;
        p->xion += h * dx;
        left -= h;
        n++;
    }
    return n;
}

static long advance_thermochemistry(const chem_t *c, double dt)
{
    long substeps = 0;
#pragma omp parallel for reduction(+ : substeps)
    for (int k = 0; k < NPARCEL; k++)
        substeps += relax_parcel(&slab[k], c, dt);
    return substeps;
}

static void conduct(double kappa)
{
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < NX; i++) {
            int im = i > 0 ? i - 1 : i, ip = i < NX - 1 ? i + 1 : i;
            for (int j = 0; j < NY; j++) {
                int jm = j > 0 ? j - 1 : NY - 1, jp = j < NY - 1 ? j + 1 : 0;
                double t = slab[i * NY + j].temp;
                tnew[i * NY + j] = t + kappa * (slab[im * NY + j].temp
                    + slab[ip * NY + j].temp + slab[i * NY + jm].temp
                    + slab[i * NY + jp].temp - 4.0 * t);
            }
        }
#pragma omp for
        for (int k = 0; k < NPARCEL; k++)
            slab[k].temp = tnew[k];
    }
}

int main(int argc, char **argv)
{
    int nstep = argc > 1 ? atoi(argv[1]) : 40;
    chem_t chem = { photo_heating, line_cooling, 0.6, 0.002 };
    long total = 0;

    setup(20117u);
    for (int n = 0; n < nstep; n++) {
        trace_beam(3.0 + 0.5 * (n % 4));
        total += advance_thermochemistry(&chem, 0.05);
        conduct(0.05);
    }

    double tsum = 0.0, xsum = 0.0;
    for (int k = 0; k < NPARCEL; k++) {
        tsum += slab[k].temp;
        xsum += slab[k].xion;
    }
    printf("substeps %ld\n", total);
    printf("mean T4 %.9f  mean x %.9f\n", tsum / NPARCEL, xsum / NPARCEL);
    for (int i = 0; i < NX; i += NX / 6)
        printf("depth %3d  T4 %.6f  x %.6f\n", i, slab[i * NY].temp, slab[i * NY].xion);
    return 0;
}
