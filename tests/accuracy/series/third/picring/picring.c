/* Particle-in-cell: electrons on a periodic square, cubic splines for charge */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

#define NG 64
#define NPART 120000

static double rho[NG][NG], ex[NG][NG], ey[NG][NG];
static double px[NPART], py[NPART], vx[NPART], vy[NPART];

static inline void spline(double f, double w[4])
{
    double g = 1.0 - f;
    w[0] = g * g * g / 6.0;
    w[1] = (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    w[2] = (4.0 - 6.0 * g * g + 3.0 * g * g * g) / 6.0;
    w[3] = f * f * f / 6.0;
}

__attribute__((noinline)) void load_particles(void)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < NPART; i++) {
        double a = fmod(i * 0.6180339887498949, 1.0), b = (i + 0.5) / NPART;
        px[i] = NG * a;
        py[i] = NG * b;
        vx[i] = 0.2 * sin(6.283185307 * b);
        vy[i] = 0.1 * cos(6.283185307 * 3 * a);
    }
}

__attribute__((noinline)) void deposit_charge(void)
{
    memset(rho, 0, sizeof rho);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < NPART; i++) {
        int ix = (int)px[i], iy = (int)py[i];
        double wx[4], wy[4];
#pragma omp critical
        {
            spline(px[i] - ix, wx);
            spline(py[i] - iy, wy);
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++)
                    rho[(iy + a - 1) & (NG - 1)][(ix + b - 1) & (NG - 1)] += wy[a] * wx[b];
        }
    }
}

/* relaxation of the potential's gradient on the small grid */
__attribute__((noinline)) void field(void)
{
    double mean = (double)NPART / (NG * NG);
#pragma omp parallel for schedule(static)
    for (int j = 0; j < NG; j++)
        for (int i = 0; i < NG; i++) {
            double gx = 0, gy = 0;
            for (int r = 1; r <= 6; r++) {
                gx += (rho[j][(i + r) & (NG - 1)] - rho[j][(i - r) & (NG - 1)]) / (r * mean);
                gy += (rho[(j + r) & (NG - 1)][i] - rho[(j - r) & (NG - 1)][i]) / (r * mean);
            }
            ex[j][i] = 0.02 * gx;
            ey[j][i] = 0.02 * gy;
        }
}

static inline double wrap(double x)
{
    return x < 0 ? x + NG : (x >= NG ? x - NG : x);
}

__attribute__((noinline)) void push_particles(double dt)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < NPART; i++) {
        int ix = (int)px[i], iy = (int)py[i];
        double bz = 0.5 * sin(0.098174770 * px[i]);
        double t = 0.5 * bz * dt, s = 2 * t / (1 + t * t);
        double ux = vx[i] + 0.5 * dt * ex[iy][ix], uy = vy[i] + 0.5 * dt * ey[iy][ix];
        double qx = ux + uy * t, qy = uy - ux * t;
        ux += qy * s;
        uy -= qx * s;
        vx[i] = ux + 0.5 * dt * ex[iy][ix];
        vy[i] = uy + 0.5 * dt * ey[iy][ix];
        px[i] = wrap(px[i] + fmax(-1, fmin(1, vx[i] * dt)));
        py[i] = wrap(py[i] + fmax(-1, fmin(1, vy[i] * dt)));
    }
}

__attribute__((noinline)) double kinetic(void)
{
    double e = 0;
#pragma omp parallel for schedule(static) reduction(+:e)
    for (int i = 0; i < NPART; i++) e += 0.5 * (vx[i] * vx[i] + vy[i] * vy[i]);
    return e;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 60;
    load_particles();
    for (int s = 0; s < steps; s++) {
        deposit_charge();
        field();
        push_particles(0.4);
    }
    printf("energy %.6f rho %.6f\n", kinetic(), rho[NG / 2][NG / 2]);
    return 0;
}
