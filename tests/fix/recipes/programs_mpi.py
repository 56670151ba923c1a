"""Programs with MPI and something to mend; they run with three processes."""

from __future__ import annotations

from tests.fix.recipes.programs import Case, f90


def c(name: str, recipe: str, body: str, *has: str, has_not: tuple[str, ...] = (), relative: float = 0.0) -> Case:
    """A case in C, with all that it includes."""
    return Case(name, recipe, "c", body, has, has_not, relative)


APPLIED = (
    c(
        "prime numbers", "deal-in-turn",
        r"""
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

static int is_prime(int v) {
  if (v < 2) return 0;
  for (int d = 2; d * d <= v; d++)
    if (v % d == 0) return 0;
  return 1;
}

int main(int argc, char *argv[]) {
  int rank, nprocs;
  int limit = 20011;
  if (argc > 1) limit = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

  int chunk = limit / nprocs;
  int lo = rank * chunk;
  int hi = lo + chunk;
  if (rank == nprocs - 1) hi = limit;

  long count = 0;
  double weight = 0.0;
  int i;
  for (i = lo; i < hi; i++) {
    if (is_prime(i)) {
      count++;
      weight += 1.0 / i;
    }
  }
  long total;
  double wsum;
  MPI_Reduce(&count, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&weight, &wsum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld primes, weight %.8f\n", total, wsum);
  MPI_Finalize();
  return 0;
}
""", "for (i = rank; i < limit; i += nprocs)",
    ),
    c(
        "array summed over all", "deal-in-turn",
        r"""
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static double solve(int k, int round) {
  double x = 1.0 + 1e-3 * round, y = 0.5;
  for (int i = 0; i < 20 * k; i++) {
    y += 1e-4 * (x - y * y);
    x -= 1e-4 * (y - 0.5);
  }
  return x + y;
}

static void work_through(int tasks, int round, double *done) {
  int first = (int)((long)tasks * rank / size), last = (int)((long)tasks * (rank + 1) / size);
  for (int k = 0; k < tasks; k++) done[k] = 0.0;
  for (int k = first; k < last; k++) done[k] = solve(k, round);
  MPI_Allreduce(MPI_IN_PLACE, done, tasks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  int tasks = 100, rounds = 2;
  double *done = malloc(tasks * sizeof *done), s = 0.0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int r = 0; r < rounds; r++) {
    work_through(tasks, r, done);
    for (int k = 0; k < tasks; k++) s += done[k] / (1.0 + k);
  }
  if (rank == 0) printf("checksum %.12e\n", s);
  MPI_Finalize();
  return 0;
}
""", "for (int k = rank; k < tasks; k += size)", has_not=('first',),
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
        "sums one by one", "merge-collectives",
        r"""
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double mass, energy, px; int cells; } totals_t;

static void diagnose(const double *u, int n, totals_t *out, MPI_Comm comm) {
  double mass = 0, energy = 0, px = 0;
  double gmass, genergy, gpx;
  for (int i = 0; i < n; i++) { mass += u[i]; energy += u[i] * u[i]; px += 0.5 * u[i]; }
  MPI_Allreduce(&mass, &gmass, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&energy, &genergy, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&px, &gpx, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&n, &out->cells, 1, MPI_INT, MPI_SUM, comm);
  out->mass = gmass; out->energy = genergy; out->px = gpx;
}

int main(int argc, char **argv) {
  int me, np, n = 1000, steps = 20;
  double dt = 0.0, kappa = 0.0, eps;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (me == 0) { dt = 0.01; kappa = 0.3; steps = 25; }
  MPI_Bcast(&dt, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&kappa, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double *u = malloc(n * sizeof(double)), *all = malloc(n * np * sizeof(double));
  for (int i = 0; i < n; i++) u[i] = sin(i * 0.01 + me);
  totals_t t;
  double worst;
  for (int s = 0; s < steps; s++) {
    double change = 0;
    for (int i = 1; i < n - 1; i++) { double d = dt * kappa * (u[i-1] - 2 * u[i] + u[i+1]); u[i] += d; if (fabs(d) > change) change = fabs(d); }
    MPI_Reduce(&change, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Bcast(&worst, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gather(u, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(all, n * np, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    u[0] = all[(n * np - n * (me + 1)) % (n * np)];
    diagnose(u, n, &t, MPI_COMM_WORLD);
    if (worst < 1e-9) break;
  }
  eps = t.mass + t.energy;
  if (me == 0) printf("%.10f %.10f %d %.10f\n", eps, t.px, t.cells, worst);
  MPI_Finalize();
  return 0;
}
""", "double numbers[3] = {mass, energy, px}, results[3];", "double numbers[2] = {dt, kappa};",
    ),
    c(
        "results brought to all", "result-for-all",
        r"""
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double mass, energy, px; int cells; } totals_t;

static void diagnose(const double *u, int n, totals_t *out, MPI_Comm comm) {
  double mass = 0, energy = 0, px = 0;
  double gmass, genergy, gpx;
  for (int i = 0; i < n; i++) { mass += u[i]; energy += u[i] * u[i]; px += 0.5 * u[i]; }
  MPI_Allreduce(&mass, &gmass, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&energy, &genergy, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&px, &gpx, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(&n, &out->cells, 1, MPI_INT, MPI_SUM, comm);
  out->mass = gmass; out->energy = genergy; out->px = gpx;
}

int main(int argc, char **argv) {
  int me, np, n = 1000, steps = 20;
  double dt = 0.0, kappa = 0.0, eps;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  if (me == 0) { dt = 0.01; kappa = 0.3; steps = 25; }
  MPI_Bcast(&dt, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&kappa, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double *u = malloc(n * sizeof(double)), *all = malloc(n * np * sizeof(double));
  for (int i = 0; i < n; i++) u[i] = sin(i * 0.01 + me);
  totals_t t;
  double worst;
  for (int s = 0; s < steps; s++) {
    double change = 0;
    for (int i = 1; i < n - 1; i++) { double d = dt * kappa * (u[i-1] - 2 * u[i] + u[i+1]); u[i] += d; if (fabs(d) > change) change = fabs(d); }
    MPI_Reduce(&change, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Bcast(&worst, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gather(u, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(all, n * np, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    u[0] = all[(n * np - n * (me + 1)) % (n * np)];
    diagnose(u, n, &t, MPI_COMM_WORLD);
    if (worst < 1e-9) break;
  }
  eps = t.mass + t.energy;
  if (me == 0) printf("%.10f %.10f %d %.10f\n", eps, t.px, t.cells, worst);
  MPI_Finalize();
  return 0;
}
""", "MPI_Allreduce(&change, &worst", "MPI_Allgather(u, n", has_not=('MPI_Gather',),
    ),
    f90(
        "numbers one by one", "merge-collectives",
        r"""
program heat
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: ierr, rank, nprocs, n, i, it, nsteps
  real(dp) :: s1, s2, t1, t2, dt, res, gres
  real(dp), allocatable :: u(:), all(:)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, nprocs, ierr)
  n = 500
  nsteps = 0
  dt = 0.0_dp
  if (rank == 0) then
    nsteps = 12
    dt = 0.05_dp
    n = 600
  end if
  call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(nsteps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(dt, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  allocate(u(n), all(n*nprocs))
  do i = 1, n
    u(i) = sin(0.01_dp*i + rank)
  end do
  do it = 1, nsteps
    s1 = sum(u)
    s2 = sum(u*u)
    call MPI_ALLREDUCE(s1, t1, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_ALLREDUCE(s2, t2, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    u = u - dt*t1/(1 + t2)
    res = maxval(abs(u))
    call MPI_Reduce(res, gres, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(gres, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Gather(u, n, MPI_DOUBLE_PRECISION, all, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(all, n*nprocs, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    u(1) = all(n*nprocs)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  if (rank == 0) write (*, '(4f18.10)') t1, t2, gres, u(1)
  call MPI_Finalize(ierr)
end program heat
""", "numbers = [s1, s2]", "numbers = [n, nsteps]",
    ),
    f90(
        "results brought to all", "result-for-all",
        r"""
program heat
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: ierr, rank, nprocs, n, i, it, nsteps
  real(dp) :: s1, s2, t1, t2, dt, res, gres
  real(dp), allocatable :: u(:), all(:)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, nprocs, ierr)
  n = 500
  nsteps = 0
  dt = 0.0_dp
  if (rank == 0) then
    nsteps = 12
    dt = 0.05_dp
    n = 600
  end if
  call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(nsteps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(dt, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  allocate(u(n), all(n*nprocs))
  do i = 1, n
    u(i) = sin(0.01_dp*i + rank)
  end do
  do it = 1, nsteps
    s1 = sum(u)
    s2 = sum(u*u)
    call MPI_ALLREDUCE(s1, t1, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_ALLREDUCE(s2, t2, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    u = u - dt*t1/(1 + t2)
    res = maxval(abs(u))
    call MPI_Reduce(res, gres, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(gres, 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Gather(u, n, MPI_DOUBLE_PRECISION, all, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(all, n*nprocs, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    u(1) = all(n*nprocs)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  if (rank == 0) write (*, '(4f18.10)') t1, t2, gres, u(1)
  call MPI_Finalize(ierr)
end program heat
""", "call MPI_Allreduce(res, gres", "call MPI_Allgather(u, n",
    ),
    c(
        "bodies member by member", "one-message",
        r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { double x, y, z, m; } body;
static body *bodies;
static int me, np;

static void ship(int n, int to) {
  for (int i = 0; i < n; i++) {
    MPI_Send(&bodies[i].x, 1, MPI_DOUBLE, to, 10, MPI_COMM_WORLD);
    MPI_Send(&bodies[i].y, 1, MPI_DOUBLE, to, 11, MPI_COMM_WORLD);
    MPI_Send(&bodies[i].z, 1, MPI_DOUBLE, to, 12, MPI_COMM_WORLD);
  }
}
static double collect(int n, int from) {
  double sum = 0.0;
  MPI_Status st;
  for (int i = 0; i < n; i++) {
    double x, y, z;
    MPI_Recv(&x, 1, MPI_DOUBLE, from, 10, MPI_COMM_WORLD, &st);
    MPI_Recv(&y, 1, MPI_DOUBLE, from, 11, MPI_COMM_WORLD, &st);
    MPI_Recv(&z, 1, MPI_DOUBLE, from, 12, MPI_COMM_WORLD, &st);
    sum += bodies[i].m * (x + 2 * y + 3 * z);
  }
  return sum;
}
int main(int argc, char **argv) {
  int n = 800;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  bodies = malloc(n * sizeof(body));
  for (int i = 0; i < n; i++) { bodies[i].x = i; bodies[i].y = 0.5 * i + me; bodies[i].z = 1.0; bodies[i].m = 0.1; }
  double s = 0;
  for (int t = 0; t < 5; t++) {
    if (me == 0) { for (int p = 1; p < np; p++) s += collect(n, p); }
    else ship(n, 0);
  }
  if (me == 0) printf("%.6f\n", s);
  MPI_Finalize();
  return 0;
}
""", "message[3 * i + 1] = bodies[i].y;", "MPI_Recv(message, 3 * n",
    ),
    c(
        "column of a plane", "one-message",
        r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NX 64
#define NY 48
static double u[NY][NX], halo[NY];
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int j = 0; j < NY; j++) for (int i = 0; i < NX; i++) u[j][i] = i + 0.1 * j + rank;
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  double *hist = malloc(NY * sizeof(double)), *total = malloc(NY * sizeof(double));
  for (int t = 0; t < 10; t++) {
    if (rank % 2 == 0) {
      for (int j = 0; j < NY; j++) MPI_Send(&u[j][NX - 1], 1, MPI_DOUBLE, right, j, MPI_COMM_WORLD);
      if (size % 2 == 0 || rank > 0)
      for (int j = 0; j < NY; j++) MPI_Recv(&halo[j], 1, MPI_DOUBLE, left, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (int j = 0; j < NY; j++) MPI_Recv(&halo[j], 1, MPI_DOUBLE, left, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int j = 0; j < NY; j++) MPI_Send(&u[j][NX - 1], 1, MPI_DOUBLE, right, j, MPI_COMM_WORLD);
    }
    if (size % 2 && rank == 0) for (int j = 0; j < NY; j++) MPI_Recv(&halo[j], 1, MPI_DOUBLE, left, j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int j = 0; j < NY; j++) {
      hist[j] = 0;
      for (int i = 0; i < NX; i++) { u[j][i] = 0.9 * u[j][i] + 0.1 * halo[j]; hist[j] += u[j][i]; }
    }
    for (int j = 0; j < NY; j++)
      MPI_Allreduce(&hist[j], &total[j], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    u[0][0] = total[NY / 2] * 1e-3;
  }
  if (rank == 0) printf("%.8f %.8f\n", u[0][0], u[3][4]);
  MPI_Finalize();
  return 0;
}
""", "message[j] = u[j][NX - 1]", "MPI_Allreduce(&hist[0], &total[0], NY",
    ),
    c(
        "one after the other", "all-at-once",
        r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void smooth(double *v, int n, int reps) {
  for (int r = 0; r < reps; r++)
    for (int i = 1; i < n - 1; i++) v[i] = 0.25 * v[i - 1] + 0.5 * v[i] + 0.25 * v[i + 1];
}

int main(int argc, char **argv) {
  int rank, size, n = 500;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *v = malloc(n * sizeof(double)), total = 0, mine = 0;
  for (int i = 0; i < n; i++) v[i] = (i * 7 + rank) % 13;
  for (int turn = 0; turn < size; turn++) {
    if (rank == turn) {
      smooth(v, n, 20);
      mine = v[n / 2];
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  double seen = 0;
  if (rank > 0) MPI_Recv(&seen, 1, MPI_DOUBLE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  smooth(v, n, 10);
  seen += v[n / 3];
  if (rank < size - 1) MPI_Send(&seen, 1, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD);
  mine += seen;
  MPI_Reduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.14f\n", total);
  free(v);
  MPI_Finalize();
  return 0;
}
""", "    smooth(v, n, 20);", has_not=("int turn",),
    ),
    c(
        "work while the number comes", "receive-late",
        r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void smooth(double *v, int n, int reps) {
  for (int r = 0; r < reps; r++)
    for (int i = 1; i < n - 1; i++) v[i] = 0.25 * v[i - 1] + 0.5 * v[i] + 0.25 * v[i + 1];
}

int main(int argc, char **argv) {
  int rank, size, n = 500;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *v = malloc(n * sizeof(double)), total = 0, mine = 0;
  for (int i = 0; i < n; i++) v[i] = (i * 7 + rank) % 13;
  for (int turn = 0; turn < size; turn++) {
    if (rank == turn) {
      smooth(v, n, 20);
      mine = v[n / 2];
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  double seen = 0;
  if (rank > 0) MPI_Recv(&seen, 1, MPI_DOUBLE, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  smooth(v, n, 10);
  seen += v[n / 3];
  if (rank < size - 1) MPI_Send(&seen, 1, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD);
  mine += seen;
  MPI_Reduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.14f\n", total);
  free(v);
  MPI_Finalize();
  return 0;
}
""", "smooth(v, n, 10);\n  if (rank > 0) MPI_Recv",
    ),
)  # fmt: skip
