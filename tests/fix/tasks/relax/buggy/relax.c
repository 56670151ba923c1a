#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int nx, ny;

static double *grid(void) { return calloc((size_t)nx * ny, sizeof(double)); }

static void initialise(double *u, double *src) {
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++) {
      u[(size_t)j * nx + i] = 1.0 + 0.1 * ((i * 7 + j * 13) % 17);
      src[(size_t)j * nx + i] = ((i + j) % 5) * 0.01;
    }
}

static void smooth(const double *u, double *v, const double *src) {
#pragma omp parallel for schedule(static)
  for (int j = 1; j < ny - 1; j++)
    for (int i = 1; i < nx - 1; i++) {
      size_t c = (size_t)j * nx + i;
      v[c] = 0.25 * (u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx]) + src[c];
    }
}

static void update_source(const double *u, double *src, int step) {
#pragma omp parallel for schedule(static)
  for (int j = 1; j < ny - 2; j++)
    for (int i = 1; i < nx - 1; i++) {
      size_t c = (size_t)j * nx + i;
      double t = fabs(u[c]) + 0.5;
      src[c] = 0.01 * exp(-t) * cos(0.3 * t + step);
    }
}

static double residual(const double *u, const double *v) {
  double r = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : r)
  for (int j = 1; j < ny - 1; j++)
    for (int i = 1; i < nx - 1; i++) {
      size_t c = (size_t)j * nx + i;
      double d = u[c] - v[c];
      r += d * d;
    }
  return r;
}

int main(int argc, char **argv) {
  nx = ny = argc > 1 ? atoi(argv[1]) : 1000;
  int steps = argc > 2 ? atoi(argv[2]) : 120;
  double *u = grid(), *v = grid(), *src = grid();
  initialise(u, src);
  initialise(v, src);
  double r = 0.0;
  for (int t = 0; t < steps; t++) {
    for (int k = 0; k < 3; k++) {
      smooth(u, v, src);
      double *w = u; u = v; v = w;
    }
    update_source(u, src, t);
    r = residual(u, v);
  }
  printf("checksum %.8e %.8e\n", r, u[(size_t)(ny / 2) * nx + nx / 2]);
  return 0;
}
