/* Ground-motion scenario set: slip models on a fault plane, station spectra, site hazard. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NI __attribute__((noinline))
#define NXF 120
#define NZF 24
#define NST 44
#define NFR 12
#define NSC 96

static double slip[NXF * NZF], ttab[NST][NXF * NZF], gtab[NST][NXF * NZF];

NI static void travel_times(int lo, int hi)
{
    static const double top[9] = {0, 1, 2, 4, 6, 9, 12, 16, 20}, vp[9] = {2.1, 2.9, 3.6, 4.4, 5.2, 5.7, 6.1, 6.5, 6.8};
    for (int s = lo; s < hi; s++)
        for (int k = 0; k < NXF * NZF; k++) {
            double x = fabs((k % NXF) * 1.0 - 1.6 * s) + 3.0 + 0.4 * s, z = 1.0 + k / NXF;
            double a = 0.0, b = 1.0 / 6.8, p = 0, t = 0;
            for (int it = 0; it < 80; it++) {
                double d = 0;
                p = 0.5 * (a + b);
                t = 0;
                for (int l = 0; l < 9 && top[l] < z; l++) {
                    double h = (l < 8 && top[l + 1] < z ? top[l + 1] : z) - top[l];
                    double c = sqrt(1 - p * p * vp[l] * vp[l] + 1e-12);
                    d += h * p * vp[l] / c;
                    t += h / (vp[l] * c);
                }
                if (d < x) a = p; else b = p;
            }
            ttab[s][k] = t + 0.02 * x;
            gtab[s][k] = 1.0 / sqrt(x * x + z * z);
        }
}

NI static void slip_model(int sc)
{
    unsigned r = 7919u * (sc + 1);
    double sum = 0;
    for (int k = 0; k < NXF * NZF; k++) slip[k] = 0;
    for (int m = 0; m < 6; m++) {
        r = r * 1664525u + 1013904223u;
        double cx = NXF * (r >> 8) / 16777216.0;
        r = r * 1664525u + 1013904223u;
        double cz = NZF * (r >> 8) / 16777216.0;
        for (int k = 0; k < NXF * NZF; k++) {
            double dx = k % NXF - cx, dz = k / NXF - cz;
            slip[k] += exp(-(dx * dx + dz * dz) / (20.0 + 10 * m));
        }
    }
    for (int k = 0; k < NXF * NZF; k++) sum += slip[k];
    for (int k = 0; k < NXF * NZF; k++) slip[k] /= sum;
}

NI static double spectrum_peak(int s)
{
    double best = 0;
    for (int f = 0; f < NFR; f++) {
        double w = 0.4 * (f + 1), re = 0, im = 0;
        for (int k = 0; k < NXF * NZF; k++) {
            double a = slip[k] * gtab[s][k], ph = w * ttab[s][k];
            re += a * cos(ph);
            im += a * sin(ph);
        }
        double amp = sqrt(re * re + im * im) * w / (1 + w * w / 9);
        if (amp > best) best = amp;
    }
    return best;
}

int main(int argc, char **argv)
{
    int rank, size;
    double mean[NST] = {0}, all[NST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) travel_times(0, NST);
    MPI_Bcast(ttab, NST * NXF * NZF, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(gtab, NST * NXF * NZF, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int sc = rank; sc < NSC; sc += size) {
        slip_model(sc);
        for (int s = 0; s < NST; s += 4) mean[s] += log(spectrum_peak(s)) / NSC;
    }
    MPI_Reduce(mean, all, NST, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int s = 0; s < NST; s += 8) printf("station %2d  median peak %.4e\n", s, exp(all[s]));
    MPI_Finalize();
    return 0;
}
