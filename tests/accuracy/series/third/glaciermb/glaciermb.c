/* Glacier mass balance of a mountain range: surface energy balance of the ice
 * cells and degree-day bookkeeping, rows of the map divided among ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define NX 200
#define NY 240

static int first, count;
static double height[NY][NX], ice[NY][NX], surface_t[NY][NX];

NOINLINE static void load_map(void)
{
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            double ridge = exp(-pow((j - 55) / 48.0, 2));
            height[j][i] = 900.0 + 2600.0 * ridge + 120.0 * sin(0.21 * i) * cos(0.17 * j);
            ice[j][i] = height[j][i] > 2300.0 ? 0.06 * (height[j][i] - 2300.0) : 0.0;
            surface_t[j][i] = 268.0;
        }
}

NOINLINE static double air_temperature(double z, int day)
{
    return 288.0 - 0.0065 * z + 9.0 * sin(2 * M_PI * (day - 110) / 365.0);
}

NOINLINE static double energy_balance(double *ts, double ta, double sun)
{
    double t = *ts, melt = 0.0;
    for (int it = 0; it < 10; it++) {
        double es = 611.0 * exp(21.87 * (t - 273.16) / (t - 7.66));
        double ea = 0.7 * 611.0 * exp(21.87 * (ta - 273.16) / (ta - 7.66));
        double q = sun * 0.45 + 0.78 * 5.67e-8 * pow(ta, 4.0) - 5.67e-8 * pow(t, 4.0)
                 + 9.0 * (ta - t) + 0.015 * (ea - es);
        double dq = -4.0 * 5.67e-8 * t * t * t - 9.0 - 0.015 * es * 0.08;
        t -= 0.8 * q / dq;
        if (t > 273.16) { t = 273.16; melt = q > 0.0 ? q * 86400.0 / 3.34e8 : 0.0; }
    }
    *ts = t;
    return melt;
}

NOINLINE static double advance_rows(int day)
{
    double sun = 220.0 + 130.0 * sin(2 * M_PI * (day - 80) / 365.0), melted = 0.0;
    for (int j = first; j < first + count; j++)
        for (int i = 0; i < NX; i++) {
            double ta = air_temperature(height[j][i], day);
            if (ice[j][i] > 0.0) {
                double m = energy_balance(&surface_t[j][i], ta, sun);
                m = m < ice[j][i] ? m : ice[j][i];
                ice[j][i] -= m;
                melted += m;
            } else {
                surface_t[j][i] += 0.3 * (ta - surface_t[j][i]);
            }
        }
    return melted;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int days = argc > 1 ? atoi(argv[1]) : 110;
    first = NY * rank / size;
    count = NY * (rank + 1) / size - first;
    load_map();
    double total = 0.0;
    for (int day = 120; day < 120 + days; day++) {
        double mine = advance_rows(day), all = 0.0;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        total += all;
    }
    if (rank == 0) printf("days %d  melt water equivalent %.6e m per cell\n", days, total / (NX * NY));
    MPI_Finalize();
    return 0;
}
