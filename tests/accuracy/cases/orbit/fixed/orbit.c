#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BODIES 1400

static double px[BODIES], py[BODIES], ax[BODIES], ay[BODIES];

static double attract(double d2) {
  return 1.0 / (d2 * sqrt(d2)) + 1e-3 * d2 * d2;
}

static void accelerate(void) {
  for (int i = 0; i < BODIES; i++) {
    double sx = 0, sy = 0;
    for (int j = 0; j < BODIES; j++) {
      double dx = px[j] - px[i], dy = py[j] - py[i];
      double f = attract(dx * dx + dy * dy + 0.01);
      sx += f * dx;
      sy += f * dy;
    }
    ax[i] = sx;
    ay[i] = sy;
  }
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 45;
  for (int i = 0; i < BODIES; i++) {
    px[i] = 0.001 * ((i * 37) % 1009);
    py[i] = 0.001 * ((i * 101) % 997);
  }
  for (int s = 0; s < steps; s++) {
    accelerate();
    for (int i = 0; i < BODIES; i++) {
      px[i] += 1e-9 * ax[i];
      py[i] += 1e-9 * ay[i];
    }
  }
  double sum = 0;
  for (int i = 0; i < BODIES; i++) sum += px[i] + py[i] + 1e-6 * ax[i];
  printf("checksum %.8e\n", sum);
  return 0;
}
