#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int count;
static double *px, *py, *pz;
static double *fx, *fy, *fz;

static double *column(void) { return calloc((size_t)count, sizeof(double)); }

static void lattice(void) {
  int side = (int)ceil(cbrt((double)count));
  for (int i = 0; i < count; i++) {
    px[i] = 1.1 * (i % side) + 0.02 * (i % 7);
    py[i] = 1.1 * (i / side % side) + 0.02 * (i % 5);
    pz[i] = 1.1 * (i / side / side) + 0.02 * (i % 3);
  }
}

static double pair_terms(double r, double *f) {
  double a = pow(1.0 / r, 12.0);
  double b = pow(1.0 / r, 6.0);
  *f = 24.0 * (2.0 * a - b) / pow(r, 2.0);
  return 4.0 * (a - b);
}

static double forces(void) {
  double e = 0.0;
  for (int i = 0; i < count; i++) fx[i] = fy[i] = fz[i] = 0.0;
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++) {
      double dx = px[i] - px[j], dy = py[i] - py[j], dz = pz[i] - pz[j];
      double f;
      e += pair_terms(sqrt(dx * dx + dy * dy + dz * dz), &f);
      fx[i] += f * dx;
      fy[i] += f * dy;
      fz[i] += f * dz;
      fx[j] -= f * dx;
      fy[j] -= f * dy;
      fz[j] -= f * dz;
    }
  return e;
}

static void descend(double h) {
  for (int i = 0; i < count; i++) {
    px[i] += h * fx[i];
    py[i] += h * fy[i];
    pz[i] += h * fz[i];
  }
}

int main(int argc, char **argv) {
  count = argc > 1 ? atoi(argv[1]) : 2200;
  int steps = argc > 2 ? atoi(argv[2]) : 20;
  double e = 0.0;
  px = column(); py = column(); pz = column();
  fx = column(); fy = column(); fz = column();
  lattice();
  for (int s = 0; s < steps; s++) {
    e = forces();
    descend(1e-5);
  }
  printf("checksum %.7e\n", e);
  return 0;
}
