/* Particle-mesh model of a galactic disc: stars divided among ranks, potential on a common grid */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define M 160
#define NSTAR 400000
#define NSTEP 8

struct star { double x, y, vx, vy; };
static double rho[M * M], total[M * M], phi[M * M];

__attribute__((noinline)) void init_stars(struct star *s, int first, int n) {
    for (int i = 0; i < n; i++) {
        unsigned h = (first + i) * 2654435761u;
        double r = 8.0 + 30.0 * sqrt((h & 0xffff) / 65536.0), a = 2 * M_PI * ((h >> 16) / 65536.0);
        s[i].x = M / 2 + r * cos(a);
        s[i].y = M / 2 + r * sin(a);
        s[i].vx = -0.5 * sin(a);
        s[i].vy = 0.5 * cos(a);
    }
}

__attribute__((noinline)) void deposit(const struct star *s, int n) {
    for (int k = 0; k < M * M; k++) rho[k] = 0;
    for (int i = 0; i < n; i++) {
        int a = (int)s[i].x, b = (int)s[i].y;
        double u = s[i].x - a, v = s[i].y - b;
        rho[a * M + b] += (1 - u) * (1 - v);
        rho[(a + 1) * M + b] += u * (1 - v);
        rho[a * M + b + 1] += (1 - u) * v;
        rho[(a + 1) * M + b + 1] += u * v;
    }
}

__attribute__((noinline)) void relax(double *p, const double *f, int sweeps) {
    double w = 2.0 / (1.0 + sin(M_PI / M));
    for (int it = 0; it < sweeps; it++)
        for (int i = 1; i < M - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                double c = 0.25 * (p[(i - 1) * M + j] + p[(i + 1) * M + j] + p[i * M + j - 1] + p[i * M + j + 1] - f[i * M + j]);
                p[i * M + j] += w * (c - p[i * M + j]);
            }
}

__attribute__((noinline)) void update_potential(int rank) {
    MPI_Reduce(rho, total, M * M, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int k = 0; k < M * M; k++) total[k] *= 4 * M_PI * 1e-5;
        relax(phi, total, 450);
    }
    MPI_Bcast(phi, M * M, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) void push(struct star *s, int n, double dt, int sub) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < sub; k++) {
            int a = (int)s[i].x, b = (int)s[i].y;
            double gx = 0.5 * (phi[(a + 1) * M + b] - phi[(a - 1) * M + b]);
            double gy = 0.5 * (phi[a * M + b + 1] - phi[a * M + b - 1]);
            double dx = s[i].x - M / 2, dy = s[i].y - M / 2, h = 0.25 / (1.0 + dx * dx + dy * dy);
            s[i].vx -= dt * (gx + h * dx);
            s[i].vy -= dt * (gy + h * dy);
            s[i].x += dt * s[i].vx;
            s[i].y += dt * s[i].vy;
            if (s[i].x < 2 || s[i].x > M - 3) { s[i].vx = -s[i].vx; s[i].x = s[i].x < 2 ? 2 : M - 3; }
            if (s[i].y < 2 || s[i].y > M - 3) { s[i].vy = -s[i].vy; s[i].y = s[i].y < 2 ? 2 : M - 3; }
        }
}

__attribute__((noinline)) double kinetic(const struct star *s, int n) {
    double e = 0;
    for (int i = 0; i < n; i++) e += 0.5 * (s[i].vx * s[i].vx + s[i].vy * s[i].vy);
    return e;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int first = (int)((long)NSTAR * rank / size), n = (int)((long)NSTAR * (rank + 1) / size) - first;
    struct star *s = malloc(n * sizeof *s);
    init_stars(s, first, n);
    for (int step = 0; step < NSTEP; step++) {
        deposit(s, n);
        update_potential(rank);
        push(s, n, 0.02, 10);
    }
    double e = kinetic(s, n), sum = 0;
    MPI_Reduce(&e, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("kinetic energy per star %.8f  central potential %.6f\n", sum / NSTAR, phi[M / 2 * M + M / 2]);
    free(s);
    MPI_Finalize();
    return 0;
}
