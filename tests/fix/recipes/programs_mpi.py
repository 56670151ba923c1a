"""Programs with MPI and something to mend; they run with three processes."""

from __future__ import annotations

from tests.fix.recipes.programs import Case


def c(name: str, recipe: str, body: str, *has: str, has_not: tuple[str, ...] = (), relative: float = 0.0) -> Case:
    """A case in C, with all that it includes."""
    return Case(name, recipe, "c", body, has, has_not, relative)


APPLIED = (
    c(
        "a row to the next rank", "one-message",
        r"""
#include <mpi.h>
#include <stdio.h>
#define W 50
static double mine[W], its[W];
static void hand_over(int rank, int size) {
  if (rank > 0)
    for (int i = 0; i < W; i++) MPI_Recv(&its[i], 1, MPI_DOUBLE, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank + 1 < size)
    for (int i = 0; i < W; i++) MPI_Send(&mine[i], 1, MPI_DOUBLE, rank + 1, i, MPI_COMM_WORLD);
}
int main(int argc, char **argv) {
  int rank, size;
  double sum = 0, total;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < W; i++) mine[i] = 1.5 * rank + 0.25 * i;
  hand_over(rank, size);
  for (int i = 0; i < W; i++) sum += its[i] * (i + 1);
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.17g\n", total);
  MPI_Finalize();
  return 0;
}
""", "MPI_Send(&mine[0], W, MPI_DOUBLE, rank + 1, 0", "MPI_Recv(&its[0], W, MPI_DOUBLE, rank - 1, 0",
    ),
    c(
        "border before the interior", "send-early",
        r"""
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define W 200

static double edge[W], body[W];
static int rank, size;

static void setup(void) {
  for (int i = 0; i < W; i++) {
    edge[i] = 1.0 + 0.001 * (i % 37);
    body[i] = 0.5 + 0.002 * (i % 53) + 0.1 * rank;
  }
}

static double interior(int reps) {
  double s = 0.0;
  for (int r = 0; r < reps; r++)
    for (int i = 1; i + 1 < W; i++) {
      body[i] = 0.9 * body[i] + 0.05 * (body[i - 1] + body[i + 1]) + 1e-4 / (1.0 + body[i]);
      s += body[i];
    }
  return s;
}

static void border(int t) {
  for (int i = 0; i < W; i++) edge[i] = 0.99 * edge[i] + 0.01 * sin(0.01 * (i + t));
}

static double absorb(const double *in, int reps) {
  double s = 0.0;
  for (int r = 0; r < reps; r++)
    for (int i = 0; i < W; i++) s += in[i] * edge[i] / (1.0 + r + s * 1e-9);
  return s;
}

static double stage(int t) {
  static double in[W];
  double s = 0.0;
  if (rank == 0) {
    border(t);
    s += interior(60);
    MPI_Send(edge, W, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(in, W, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s += absorb(in, 10);
    s += interior(15);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return s;
}

int main(int argc, char **argv) {
  int steps = 3;
  double s = 0.0, all = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 1);
  setup();
  for (int t = 0; t < steps; t++) s += stage(t);
  MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.12e\n", all);
  MPI_Finalize();
  return 0;
}
""", "MPI_COMM_WORLD);\n    s += interior(60)",
    ),
    c(
        "barrier between stages", "drop-barriers",
        r"""
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define W 200

static double edge[W], body[W];
static int rank, size;

static void setup(void) {
  for (int i = 0; i < W; i++) {
    edge[i] = 1.0 + 0.001 * (i % 37);
    body[i] = 0.5 + 0.002 * (i % 53) + 0.1 * rank;
  }
}

static double interior(int reps) {
  double s = 0.0;
  for (int r = 0; r < reps; r++)
    for (int i = 1; i + 1 < W; i++) {
      body[i] = 0.9 * body[i] + 0.05 * (body[i - 1] + body[i + 1]) + 1e-4 / (1.0 + body[i]);
      s += body[i];
    }
  return s;
}

static void border(int t) {
  for (int i = 0; i < W; i++) edge[i] = 0.99 * edge[i] + 0.01 * sin(0.01 * (i + t));
}

static double absorb(const double *in, int reps) {
  double s = 0.0;
  for (int r = 0; r < reps; r++)
    for (int i = 0; i < W; i++) s += in[i] * edge[i] / (1.0 + r + s * 1e-9);
  return s;
}

static double stage(int t) {
  static double in[W];
  double s = 0.0;
  if (rank == 0) {
    border(t);
    s += interior(60);
    MPI_Send(edge, W, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(in, W, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s += absorb(in, 10);
    s += interior(15);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return s;
}

int main(int argc, char **argv) {
  int steps = 3;
  double s = 0.0, all = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) MPI_Abort(MPI_COMM_WORLD, 1);
  setup();
  for (int t = 0; t < steps; t++) s += stage(t);
  MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("checksum %.12e\n", all);
  MPI_Finalize();
  return 0;
}
""", has_not=('MPI_Barrier',),
    ),
    c(
        "plan to all before the log", "send-early",
        r"""
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define LENGTH 24
static double plan[LENGTH];
static double review(int n) {
  int i;
  double s = 0.0;
  for (i = 1; i <= n; i++) s += plan[i % LENGTH] / sqrt((double)i);
  return s;
}
static void draw(int year) {
  int i;
  for (i = 0; i < LENGTH; i++) plan[i] = sin(0.2 * i + year);
}
static double follow(int rank, int size, int year, double *reviewed, double *worst) {
  int i, to;
  double s = 0.0;
  if (rank == 0) {
    draw(year);
    for (i = 0; i < 50; i++)
      *reviewed += review(100 + i);
    *worst = fmin(*worst, *reviewed);
    for (to = 1; to < size; to++)
      MPI_Send(plan, LENGTH, MPI_DOUBLE, to, 4, MPI_COMM_WORLD);
    return 0.0;
  }
  MPI_Recv(plan, LENGTH, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 0; i < LENGTH; i++) s += plan[i] * rank;
  return s;
}
int main(int argc, char **argv) {
  int rank, size;
  double mine = 0.0, all, reviewed = 0.0, worst = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int year = 0; year < 6; year++) mine += follow(rank, size, year, &reviewed, &worst);
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.8f %.8f %.8f\n", all, reviewed, worst);
  MPI_Finalize();
  return 0;
}
""", "draw(year);\n    for (to = 1; to < size; to++)",
    ),
    c(
        "barrier where a record knows the process", "drop-barriers",
        r"""
/* halo exchange, blocking, then compute; heavy independent work between */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int n, rank, size, left, right; double *u, *unew; } Grid;

static void init(Grid *g, int n) {
  g->n = n;
  g->u = calloc(n + 2, sizeof(double));
  g->unew = calloc(n + 2, sizeof(double));
  g->left = g->rank > 0 ? g->rank - 1 : MPI_PROC_NULL;
  g->right = g->rank < g->size - 1 ? g->rank + 1 : MPI_PROC_NULL;
  for (int i = 1; i <= n; i++) g->u[i] = sin(0.1 * (i + g->rank * n));
}
static void exchange(Grid *g) {
  MPI_Sendrecv(&g->u[1], 1, MPI_DOUBLE, g->left, 0, &g->u[g->n + 1], 1, MPI_DOUBLE, g->right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&g->u[g->n], 1, MPI_DOUBLE, g->right, 1, &g->u[0], 1, MPI_DOUBLE, g->left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void update(Grid *g) {
  for (int i = 1; i <= g->n; i++) g->unew[i] = 0.5 * g->u[i] + 0.25 * (g->u[i - 1] + g->u[i + 1]);
  double *t = g->u; g->u = g->unew; g->unew = t;
}
int main(int argc, char **argv) {
  Grid g;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g.size);
  init(&g, 1000);
  double res = 0;
  for (int t = 0; t < 50; t++) {
    exchange(&g);
    update(&g);
    double a = 0, b = 0, ga, gb;
    for (int i = 1; i <= g.n; i++) { a += g.u[i]; if (g.u[i] > b) b = g.u[i]; }
    MPI_Allreduce(&a, &ga, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 1; i <= g.n; i++) b += 1e-6 * g.u[i] * g.u[i];
    MPI_Allreduce(&b, &gb, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    res = ga + gb;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (g.rank == 0) printf("%.12f\n", res);
  MPI_Finalize();
  return 0;
}
""", has_not=("MPI_Barrier",),
    ),
)  # fmt: skip
