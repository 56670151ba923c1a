#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LIMIT 2000

static int depth(double x, double y, double cx, double cy) {
  int k = 0;
  while (k < LIMIT && x * x + y * y < 4.0) {
    double t = x * x - y * y + cx;
    y = 2.0 * x * y + cy;
    x = t;
    k++;
  }
  return k;
}

static long render_row(int row, int w, int h) {
  long sum = 0;
  double y = -1.0 + 3.0 * row / h;
  for (int col = 0; col < w; col++) {
    double x = -1.5 + 3.0 * col / w;
    sum += depth(x, y, -0.12, 0.74);
  }
  return sum;
}

static void render(long *tone, int w, int h, int rank, int size) {
  int rows = (h + size - 1) / size;
  int from = rank * rows, to = from + rows < h ? from + rows : h;
  for (int r = from; r < to; r++) tone[r] = render_row(r, w, h);
}

int main(int argc, char **argv) {
  int rank, size, w, h;
  long *tone, *all, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  w = argc > 1 ? atoi(argv[1]) : 1600;
  h = argc > 2 ? atoi(argv[2]) : 1200;
  tone = calloc(h, sizeof(long));
  all = calloc(h, sizeof(long));
  render(tone, w, h, rank, size);
  MPI_Reduce(tone, all, h, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int r = 0; r < h; r++) sum += all[r] * (1 + r % 7);
    printf("checksum %ld\n", sum);
  }
  free(tone);
  free(all);
  MPI_Finalize();
  return 0;
}
