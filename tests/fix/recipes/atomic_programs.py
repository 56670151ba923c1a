# ruff: noqa: E501
"""Programs whose critical sections hold nothing but updates, and programs that look like them."""

from __future__ import annotations

from tests.fix.recipes.cases import Case, c, cpp, f90
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss_c
from tests.fix.recipes.misses import cpp as miss_cpp
from tests.fix.recipes.misses import f90 as miss_f90

_ELEMENTS = "atomic-instead-of-critical"

ATOMIC: tuple[Case, ...] = (
    c(
        "functions with sections of one name", _ELEMENTS, """
typedef struct { int n; double *depth, *up, *down; long events; } Score;
static double *zeros(int n) { double *p = calloc(n, sizeof *p); if (!p) exit(2); return p; }
static int bin(const Score *s, double z)
{
    int k = (int)(z * s->n);
    return k < 0 ? 0 : k < s->n ? k : s->n - 1;
}
static void score_depth(Score *s, double z, double w)
{
    int k = bin(s, z);
#pragma omp critical (score)
    {
        s->depth[k] += w;   /* where it was */
        s->events++;
    }
}
/* was: #pragma omp critical (all) */
static void score_end(Score *s, double x, int upward, double w)
{
#pragma omp critical(score)
    {
        int k = bin(s, x);
        if (upward)
            s->up[k] += w; // out above
        else if (w > 0) s->down[k] += w;
        else { s->down[0] = s->down[0] - w; }
    }
}
static void walk(Score *s, int i)
{
    unsigned r = 747796405u * (unsigned)i + 2891336453u;
    double z = 0, step;
    for (int k = 0; k < 9; k++) {
        r = r * 1664525u + 1013904223u;
        step = (r >> 8) / 16777216.0;
        z += 0.3 * step - 0.1;
        score_depth(s, z, step);
    }
    score_end(s, fabs(z), i % 3, i % 5 - 1.0);
}
int main(void)
{
    Score s = { 40, zeros(40), zeros(40), zeros(40), 0 };
#pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < 20000; i++) walk(&s, i);
    for (int k = 0; k < s.n; k++) printf("%.9e %.9e %.9e\\n", s.depth[k], s.up[k], s.down[k]);
    printf("%ld\\n", s.events);
    return 0;
}
""", "#pragma omp atomic\n        s->depth[k] += w;   /*", "#pragma omp atomic\n            s->up[k] += w;\n        } // out",
        "int k = bin(s, x);", has_not=("critical (score)", "critical(score)"), relative=1e-9,
    ),
    c(
        "histograms of the loop", _ELEMENTS, """
static void count(const int *v, const double *w, int n, long *hits, double *sum, unsigned *mask)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k = v[i] % 1000;
#pragma omp critical
        { hits[k] = hits[k] + 1; sum[k] = w[i] * 0.5 + sum[k]; }
#pragma omp critical
        mask[k] |= 1u << (v[i] & 31); /* seen */
    }
}
int main(void)
{
    int n = 200000, *v = malloc(n * sizeof *v);
    double *w = malloc(n * sizeof *w), *sum = calloc(1000, sizeof *sum);
    long *hits = calloc(1000, sizeof *hits);
    unsigned *mask = calloc(1000, sizeof *mask);
    for (int i = 0; i < n; i++) { v[i] = (i * 7919) % 100003; w[i] = 1.0 / (1 + v[i] % 17); }
    count(v, w, n, hits, sum, mask);
    for (int k = 0; k < 1000; k += 37) printf("%ld %.9e %u\\n", hits[k], sum[k], mask[k]);
    return 0;
}
""", "#pragma omp atomic\n        mask[k] |= ", "#pragma omp atomic\n        sum[k] = w[i] * 0.5 + sum[k];", has_not=("critical",), relative=1e-9,
    ),
    c(
        "lock", _ELEMENTS, """
#include <omp.h>
typedef struct { double mass[64]; omp_lock_t lock; } Cells;
static long calls;
static void put(Cells *c, int k, double w)
{
    omp_set_lock(&c->lock);
    c->mass[k] += w;
    if (k > 60)
        calls++;
    omp_unset_lock(&c->lock);
}
int main(void)
{
    static Cells c;
    omp_init_lock(&c.lock);
#pragma omp parallel for
    for (int i = 0; i < 60000; i++) {
        put(&c, i % 64, 1.0 / (1 + i % 7));
        omp_set_lock(&c.lock); c.mass[0] -= 0.5; omp_unset_lock(&c.lock);
    }
    omp_destroy_lock(&c.lock);
    for (int k = 0; k < 64; k++) printf("%.9e\\n", c.mass[k]);
    printf("%ld\\n", calls);
    return 0;
}
""", "#pragma omp atomic\n    c->mass[k] += w;", "#pragma omp atomic\n        c.mass[0] -= 0.5;", has_not=("omp_set_lock",), relative=1e-9,
    ),
    cpp(
        "member functions and vectors", _ELEMENTS, """
class Grid {
    int n;
    std::vector<double> mass;
    std::vector<long> hits;
public:
    explicit Grid(int cells) : n(cells), mass(cells), hits(cells) {}
    void deposit(double x, double w);
    double total() const { double s = 0; for (int k = 0; k < n; k++) s += mass[k] * (k + 1) + hits[k]; return s; }
};
void Grid::deposit(double x, double w)
{
    double at = x * n;
    int k = static_cast<int>(at);
    double f = at - k;
#pragma omp critical(grid)
    {
        mass[k] += w * (1 - f);
        mass[k + 1 < n ? k + 1 : 0] += w * f;
        ++hits[k];
    }
}
static void run(Grid &g, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) g.deposit(std::fmod(i * 0.618, 1.0), 1.0 + i % 3);
}
int main()
{
    Grid g(64);
    run(g, 100000);
    std::printf("%.9e\\n", g.total());
}
""", "#pragma omp atomic\n        ++hits[k];", has_not=("critical",), relative=1e-9,
    ),
    cpp(
        "other work in the region",
        _ELEMENTS,
        """
#include <cstring>
struct Particle { double mass, x; };
struct Cells {
    double mass[32];
    long seen;
    std::vector<int> order;
    Cells() : mass(), seen(0) {}
};
static Particle particle(int i) { Particle p = { 1.0 + i % 5, std::fmod(i * 0.37, 1.0) }; return p; }
static const double table[4] = { 0.5, 1.0, 1.5, 2.0 };
static void put(Cells *c, const Particle &p, double w)
{
    int k = (int)(p.x * 32);
#pragma omp critical (cells)
    {
        c->mass[k] += p.mass * w;
        if (w > 1) c->seen += 2;
    }
}
int main()
{
    Cells c;
    c.order.push_back(3);
#pragma omp parallel
    {
        double own[4];
        std::memcpy(own, table, sizeof own);
#pragma omp for
        for (int i = 0; i < 40000; i++) {
            std::vector<double> some(3);
            some.push_back(own[i % 4]);
            put(&c, particle(i), some.back());
        }
    }
    for (int k = 0; k < 32; k++) std::printf("%.9e\\n", c.mass[k]);
    std::printf("%ld\\n", c.seen);
}
""",
        "#pragma omp atomic\n        c->mass[k] += p.mass * w;",
        has_not=("critical",),
        relative=1e-9,
    ),
    cpp(
        "reference to a vector", _ELEMENTS, """
using real = double;
static void add(std::vector<real> &h, std::size_t k, real w)
{
#pragma omp critical
    h[k] += w;
}
int main()
{
    std::vector<real> bins(100);
    std::vector<int> keys(100000);
    for (std::size_t i = 0; i < keys.size(); i++) keys[i] = static_cast<int>(i * 31 % 1009);
#pragma omp parallel for
    for (std::size_t i = 0; i < keys.size(); i++) {
        add(bins, keys[i] % 100, 0.5 * keys[i]);
    }
    double s = 0;
    for (int k = 0; k < 100; k++) s += bins[k] * (k + 1);
    std::printf("%.9e\\n", s);
}
""", "#pragma omp atomic\n    h[k] += w;", has_not=("critical",), relative=1e-9,
    ),
    f90(
        "histogram of the loop", "fortran-atomic-instead-of-critical", """
program spectrum
  implicit none
  integer, parameter :: dp = kind(1.0d0), nb = 5000
  integer :: i, k, n
  integer :: hits(nb)
  real(dp) :: sums(nb), x
  n = 200000
  hits = 0
  sums = 0
  !$omp parallel do private(k, x)
  do i = 1, n
    x = modulo(i*0.618_dp, 1.0_dp)
    k = 1 + int(x*nb)
    !$omp critical (bins)
    hits(k) = hits(k) + 1   ! one more
    sums(k) = x*2 + sums(k)
    if (x > 0.9_dp) sums(1) = sums(1) - x
    !$omp end critical (bins)
  end do
  !$omp end parallel do
  do i = 1, nb, 97
    print '(i0,1x,es20.12)', hits(i), sums(i)
  end do
end program
""", "!$omp atomic\n    hits(k) = hits(k) + 1   ! one", "if (x > 0.9_dp) then\n      !$omp atomic\n      sums(1) = sums(1) - x\n    end if",
        has_not=("critical",), relative=1e-9,
    ),
    f90(
        "components in a subroutine of a module", "fortran-atomic-instead-of-critical", """
module tallies
  implicit none
  integer, parameter :: dp = selected_real_kind(15)
  type :: tally
    integer :: n
    real(dp), allocatable :: up(:), down(:)
    real(dp) :: map(4, 8)
    integer :: events
  end type
contains
  subroutine start(t, n)
    type(tally), intent(out) :: t
    integer, intent(in) :: n
    t%n = n
    allocate (t%up(n), t%down(n))
    t%up = 0
    t%down = 0
    t%map = 0
    t%events = 0
  end subroutine
  pure integer function bin(t, x)
    type(tally), intent(in) :: t
    real(dp), intent(in) :: x
    bin = min(t%n, 1 + int(x*t%n))
  end function
  subroutine score(t, x, upward, w)
    type(tally), intent(inout) :: t
    real(dp), intent(in) :: x, w
    logical, intent(in) :: upward
    integer :: k
    k = bin(t, x)
    !$omp critical(score)
    if (upward) then
      t%up(k) = t%up(k) + w
    else if (w > 0.5_dp) then
      t%down(k) = t%down(k) + &
        w*2
    else
      t%map(1 + mod(k, 4), 3) = max(t%map(1 + mod(k, 4), 3), w)
    end if
    t%events = t%events + 1
    !$omp end critical(score)
  end subroutine
end module
program main
  use tallies
  implicit none
  type(tally) :: t
  integer :: i
  call start(t, 50)
  !$omp parallel do schedule(dynamic, 100)
  do i = 1, 60000
    call score(t, modulo(i*0.618_dp, 1.0_dp), mod(i, 3) == 0, modulo(i*0.414_dp, 1.0_dp))
  end do
  !$omp end parallel do
  do i = 1, 50
    print '(2es20.12)', t%up(i), t%down(i)
  end do
  print '(4es20.12)', t%map(:, 3)
  print '(i0)', t%events
end program
""", "!$omp atomic\n      t%up(k) = t%up(k) + w", "!$omp atomic\n    t%events", has_not=("critical",), relative=1e-9,
    ),
    f90(
        "array that is handed on", "fortran-atomic-instead-of-critical", """
module deposits
  implicit none
contains
  subroutine deposit(grid, n, k, w)
    integer, intent(in) :: n, k
    real(8), intent(inout) :: grid(n)
    real(8), intent(in) :: w
    !$OMP CRITICAL
    grid(k) = grid(k) + w
    grid(1 + mod(k, n)) = grid(1 + mod(k, n)) + 0.5d0*w
    !$OMP END CRITICAL
  end subroutine
end module
program main
  use deposits
  implicit none
  real(8), allocatable :: mass(:)
  integer :: i
  allocate (mass(300))
  mass = 0
  !$omp parallel
  !$omp do
  do i = 1, 90000
    call deposit(mass, 300, 1 + mod(i*7, 300), 1.0d0/(1 + mod(i, 11)))
  end do
  !$omp end do
  !$omp end parallel
  do i = 1, 300, 7
    print '(es20.12)', mass(i)
  end do
end program
""", "!$omp atomic\n    grid(k) = grid(k) + w", has_not=("CRITICAL",), relative=1e-9,
    ),
    f90(
        "component that is handed on",
        "fortran-atomic-instead-of-critical",
        """
module counts
  implicit none
  type :: cells
    integer :: n
    integer :: hits(100)
  end type
contains
  subroutine bump(v, k)
    integer, intent(inout) :: v(:)
    integer, intent(in) :: k
    !$omp critical
    v(k) = v(k) + 1
    ! the last one counts all
    v(100) = 2 + v(100)
    !$omp end critical
  end subroutine
end module
program main
  use counts
  implicit none
  type(cells) :: c
  character(len=4) :: word
  integer :: i
  c%n = 99
  c%hits = 0
  word = 'abcd'
  !$omp parallel do
  do i = 1, 50000
    if (word(2:2) == 'b') call bump(c%hits, 1 + mod(i*7, c%n))
  end do
  !$omp end parallel do
  print '(i0)', c%hits
end program
""",
        "!$omp atomic\n    v(k) = v(k) + 1",
        has_not=("critical",),
        relative=1e-9,
    ),
)  # fmt: skip

_BASE = """
typedef struct {{ int n; double *depth; long events; {member} }} Score;
{outside}
static double *zeros(int n) {{ double *p = calloc(n, sizeof *p); if (!p) exit(2); return p; }}
static void add(Score *s, int k, double w)
{{
    {before}
#pragma omp critical
    {{
        {section}
    }}
    {after}
}}
int main(void)
{{
    Score s;
    s.n = 40; s.depth = zeros(40); s.events = 0;
#pragma omp parallel for
    for (int i = 0; i < 20000; i++) {{ {loop} add(&s, i % 40, i * 0.5); {late} }}
    {end}
    for (int k = 0; k < s.n; k++) printf("%g\\n", s.depth[k]);
    printf("%ld\\n", s.events);
    return 0;
}}
"""
_PARTS = ("member", "outside", "before", "section", "after", "loop", "late", "end")


def base(**parts: str) -> str:
    """The program with some parts; without any it is one that is changed."""
    plain = {"section": "s->depth[k] += w; s->events++;"}
    return _BASE.format(**{each: parts.get(each, plain.get(each, "")) for each in _PARTS})


def _alike(why: str, **parts: str) -> Miss:
    return miss_c(why, _ELEMENTS, base(**parts))


_MISSES_C = (
    _alike("read outside the section", after='if (s->depth[k] > 9) puts("deep");'),
    _alike("read in the section", section="s->depth[k] += w; s->events += s->depth[0] > 3;"),
    _alike("condition reads what is updated", section="if (s->depth[k] < 9) s->depth[k] += w;"),
    _alike("another update reads it", section="s->depth[k] += w; s->depth[k + 1 < s->n ? k + 1 : 0] += s->depth[k];"),
    _alike("index is counted in the section", section="s->depth[s->events % 40] += w; s->events++;"),
    _alike("early exit of the loop", loop="if (s.events > 900) continue;"),
    _alike("address is handed on", outside="static void note(long *p) { (void)p; }", late="note(&s.events);"),
    _alike("record is copied", late='Score t = s; if (t.n > 99) puts("large");'),
    _alike(
        "read through a pointer that was taken before",
        outside="static double *kept;",
        before='if (kept && kept[k] > 3) puts("deep");',
        end="kept = s.depth;",
    ),
    _alike("another section of the name stores", late="\n#pragma omp critical\n { s.depth[0] = 0; }\n"),
    _alike(
        "another section of the name reads",
        outside="static double best; static void look(Score *s) {\n#pragma omp critical\n { best = s->depth[0]; }\n}",
        late="look(&s);",
    ),
    _alike("a function with effects", section="s->depth[k] += w * rand(); s->events++;"),
    _alike(
        "a function that counts",
        outside="static int calls; static double next(double w) { calls++; return w; }",
        section="s->depth[k] += next(w);",
    ),
    _alike(
        "way out of the section's loop", section="for (int j = 0; j < 2; j++) { if (w > 9) break; s->depth[k] += w; }"
    ),
    _alike("result is used", section="long at = s->events++; s->depth[k] += at;"),
    _alike("stored", section="s->depth[k] = w; s->events++;"),
    _alike("difference the other way round", section="s->depth[k] = w - s->depth[k];"),
    _alike("long double", member="long double sum;", section="s->depth[k] += w; s->sum += w;"),
    _alike("bit-field", member="unsigned few : 7;", section="s->depth[k] += w; s->few += 1;"),
    _alike("narrow numbers", member="unsigned char seen[40];", section="s->depth[k] += w; s->seen[k] += 3;"),
    _alike("truth", member="_Bool seen[40];", section="s->depth[k] += w; s->seen[k] |= 1;"),
    _alike("pointer", member="double *at;", section="s->depth[k] += w; s->at++;"),
    _alike("volatile", member="volatile long busy;", section="s->depth[k] += w; s->busy++;"),
    _alike("packed", outside="typedef struct { char c; double v[4]; } __attribute__((packed)) Odd;"),
    _alike("a variable of the section's own", section="int j = k; j += 1; s->depth[j % 40] += w;"),
    _alike("another directive in it", section="\n#pragma omp flush\n s->depth[k] += w;"),
    _alike("static variable in it", section="static int j; s->depth[(k + j) % 40] += w;"),
    miss_c("no parallel region", _ELEMENTS, base().replace("#pragma omp parallel for\n", "")),
    _alike("chosen by the preprocessor", section="\n#ifdef TWICE\n s->events++;\n#endif\n s->depth[k] += w;"),
    _alike(
        "directive in a macro", outside='#define LOCKED(x) _Pragma("omp critical") { x; }', late="LOCKED(s.events = 7)"
    ),
    _alike(
        "waits for what others set",
        outside="static int ready;",
        loop="if (i == 0) ready = 1; while (!ready) add(&s, 0, 1.0);",
    ),
    _alike(
        "threads of another kind",
        outside="#include <pthread.h>\nstatic void *work(void *p) { return p; }",
        end="pthread_t t; pthread_create(&t, 0, work, &s); pthread_join(t, 0);",
    ),
    _alike("function that nobody has shown", outside="void report(void);", late="report();"),
    _alike("written as bytes", late="if (i % 9999 == 0) fwrite(&s, sizeof s, 1, stderr);"),
    _alike("copied by memcpy", outside="static double copy[40];", late="memcpy(copy, s.depth, sizeof copy);"),
    _alike(
        "sum of a reduction",
        outside="static long total;",
        section="s->depth[k] += w; total += k;",
        late="\n#pragma omp simd reduction(+ : total)\n for (int j = 0; j < 3; j++) total += j;\n",
    ),
    _alike("read under another name", end="", before="double *d = s->depth;", after='if (d[k] > 3) puts("deep");'),
    miss_c(
        "read where it is handed on from",
        _ELEMENTS,
        "static void add(double *h, int k, double w) {\n#pragma omp critical\n h[k] += w;\n}\nint main(void) {\n  double *bins = calloc(40, sizeof *bins);\n"
        '#pragma omp parallel for\n  for (int i = 0; i < 999; i++) { if (bins[3] > 50) continue; add(bins, i % 40, 1.0); }\n  printf("%g", bins[3]);\n  return 0;\n}',
    ),
    miss_c(
        "two arrays that are one",
        _ELEMENTS,
        "static void add(double *h, const double *w, int k) {\n#pragma omp critical\n h[k] += w[k];\n}\nint main(void) {\n  double *bins = calloc(40, sizeof *bins);\n"
        '#pragma omp parallel for\n  for (int i = 0; i < 999; i++) { add(bins, bins + 1, i % 39); }\n  printf("%g", bins[3]);\n  return 0;\n}',
    ),
    _alike(
        "function by a pointer", outside="static double (*chosen)(double) = sin;", loop="if (chosen(i) > 2) continue;"
    ),
    _alike(
        "two directives in a row",
        before="\n#pragma omp critical (other)\n{ int q = k; k = q; }\n",
        section="s->depth[k] += w; switch (k) { case 3: s->events++; }",
    ),
    miss_c("section of a condition", _ELEMENTS, base(section="if (w > 3) { s->depth[k] += w; } else return;")),
    _alike(
        "address of a variable of the file is handed on",
        outside="static long total; static void note(long *p) { (void)p; }",
        section="s->depth[k] += w; total += k;",
        late="note(&total);",
    ),
    _alike(
        "own sum by a clause alone",
        outside="static long total;",
        section="s->depth[k] += w; total += k;",
        late="\n#pragma omp simd reduction(+ : total)\n for (int j = 0; j < 3; j++) ;\n",
    ),
    _alike("union", outside="typedef union { double d; long bits; } Either;"),
    _alike("several at once", section="s->depth[k] += w, s->events++;"),
    _alike(
        "lock around it reads",
        outside="#include <omp.h>\nstatic omp_lock_t lock;",
        late='omp_set_lock(&lock); if (s.events > 7) puts("many"); omp_unset_lock(&lock);',
    ),
    _alike(
        "master looks on", late='\n#pragma omp master\n { if (s.events % 1000 == 0) printf("%ld\\n", s.events); }\n'
    ),
    miss_c("no tolerance", _ELEMENTS, base(), relative=0),
    _alike(
        "callback reads it",
        outside="static Score *all; static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b + (all->events > 5); }",
        late="int v[2] = { 2, 1 }; qsort(v, 2, sizeof *v, order);",
    ),
)

_LOCK = """#include <omp.h>
typedef struct {{ double mass[64]; long n; omp_lock_t lock; }} Cells;
{outside}
static void put(Cells *c, int k, double w)
{{
    omp_set_lock(&c->lock);
    {section}
    omp_unset_lock(&c->lock);
}}
int main(void)
{{
    static Cells c;
    omp_init_lock(&c.lock);
#pragma omp parallel for
    for (int i = 0; i < 60000; i++) {{ put(&c, i % 64, 1.0); {late} }}
    omp_destroy_lock(&c.lock);
    printf("%g %ld\\n", c.mass[3], c.n);
    return 0;
}}
"""


def lock_base(**parts: str) -> str:
    """The program with some parts; without any it is one that is changed."""
    plain = {"section": "c->mass[k] += w; c->n++;"}
    return _LOCK.format(**{each: parts.get(each, plain.get(each, "")) for each in ("outside", "section", "late")})


def _alike_lock(why: str, **parts: str) -> Miss:
    return miss_c(why, _ELEMENTS, lock_base(**parts))


_MISSES_LOCK = (
    _alike_lock("something else under the lock", late="omp_set_lock(&c.lock); c.n = 0; omp_unset_lock(&c.lock);"),
    _alike_lock(
        "macro that takes the lock",
        outside="static Cells *all;\n#define HOLD omp_set_lock(&all->lock)\n#define LEAVE omp_unset_lock(&all->lock)\nstatic void clear(void) { HOLD; all->n = 0; LEAVE; }",
        late="if (i == 7777) clear();",
    ),
    _alike_lock("lock is tried", late="if (omp_test_lock(&c.lock)) { c.n += 2; omp_unset_lock(&c.lock); }"),
    _alike_lock(
        "lock is handed on",
        outside='static void hold(omp_lock_t *l) { omp_set_lock(l); puts(""); omp_unset_lock(l); }',
        late="if (i == 7) hold(&c.lock);",
    ),
    _alike_lock("lock by another name", outside="static omp_lock_t *other;", late="if (i == 7) other = &c.lock;"),
    _alike_lock(
        "left in another block",
        late="omp_set_lock(&c.lock); if (i > 5) { c.n++; omp_unset_lock(&c.lock); } else omp_unset_lock(&c.lock);",
    ),
    _alike_lock("read under the lock", section="c->mass[k] += w; c->n += c->mass[0] > 4;"),
    _alike_lock("read without the lock", late="if (c.n > 500) continue;"),
)

_FORTRAN = """
module tallies
  implicit none
  type :: tally
    integer :: n
    real(8), allocatable :: depth(:)
    integer :: events
    {member}
  end type
  real(8) :: total = 0
  {outside}
contains
  {procedures}
  subroutine add(t, k, w)
    type(tally), intent(inout) :: t
    integer, intent(in) :: k
    real(8), intent(in) :: w
    {local}
    {before}
    !$omp critical (score)
    {section}
    !$omp end critical (score)
    {after}
  end subroutine
end module
program main
  use tallies
  implicit none
  type(tally) :: t
  {variables}
  integer :: i
  t%n = 40
  allocate (t%depth(40))
  t%depth = 0
  t%events = 0
  !$omp parallel do
  do i = 1, 20000
    {loop}
    call add(t, 1 + mod(i, 40), i*0.5d0)
    {late}
  end do
  !$omp end parallel do
  print *, t%depth, t%events, total
end program
"""
_FORTRAN_PARTS = ("member", "outside", "procedures", "local", "before", "section", "after", "variables", "loop", "late")


def fortran_base(**parts: str) -> str:
    """The program with some parts; without any it is one that is changed."""
    plain = {"section": "t%depth(k) = t%depth(k) + w\n    t%events = t%events + 1\n    total = total + w"}
    return _FORTRAN.format(**{each: parts.get(each, plain.get(each, "")) for each in _FORTRAN_PARTS})


_INTERNAL = """
program main
  implicit none
  integer :: hist(40), i, k
  hist = 0
  !$omp parallel do private(k)
  do i = 1, 5000
    k = 1 + mod(i, 40)
    !$omp critical
    hist(k) = hist(k) + 1
    !$omp end critical
    {loop}
  end do
  !$omp end parallel do
  print *, hist
contains
  logical function deep()
    deep = hist(1) > 50
  end function
  subroutine put(k)
    integer, intent(in) :: k
    !$omp critical
    hist(k) = hist(k) + 1
    !$omp end critical
  end subroutine
end program
"""


def internal_base(loop: str = "") -> str:
    """A program with procedures in it that know its variables; with `call put(3)` in its loop it is one that is changed."""
    return _INTERNAL.format(loop=loop)


def _alike_f90(why: str, **parts: str) -> Miss:
    return miss_f90(why, "fortran-atomic-instead-of-critical", fortran_base(**parts))


_SUM = "t%depth(k) = t%depth(k) + w\n"
_MISSES_FORTRAN = (
    _alike_f90("read outside the section", after="if (t%depth(k) > 9) print *, k"),
    _alike_f90("scalar is read in the loop", loop="if (total > 900) cycle"),
    _alike_f90("condition reads what is updated", section="if (t%depth(k) < 9) t%depth(k) = t%depth(k) + w"),
    _alike_f90("greatest by a condition", section="if (w > t%depth(k)) t%depth(k) = w"),
    _alike_f90("another update reads it", section=_SUM + "total = total + t%depth(k)"),
    _alike_f90("stored", section=_SUM + "t%events = k"),
    _alike_f90("difference the other way round", section="t%depth(k) = w - t%depth(k)"),
    _alike_f90("twice in one", section="t%depth(k) = t%depth(k) + t%depth(k)"),
    _alike_f90("whole array", section="t%depth = t%depth + w"),
    _alike_f90("several elements", section=_SUM + "t%depth(k:k) = t%depth(k:k) + w"),
    _alike_f90(
        "elements by a list of places",
        outside="integer :: at(2) = [1, 2]",
        section=_SUM + "t%depth(at) = t%depth(at) + w",
    ),
    _alike_f90("narrow numbers", member="integer(1) :: seen(40)", section=_SUM + "t%seen(k) = t%seen(k) + 1_1"),
    _alike_f90("complex numbers", member="complex(8) :: z(40)", section=_SUM + "t%z(k) = t%z(k) + w"),
    _alike_f90("long numbers", member="real(16) :: z(40)", section=_SUM + "t%z(k) = t%z(k) + w"),
    _alike_f90(
        "a function with effects",
        outside="integer :: calls = 0",
        procedures="real(8) function next(w)\n real(8), intent(in) :: w\n calls = calls + 1\n next = w\n end function",
        section=_SUM + "total = total + next(w)",
    ),
    _alike_f90(
        "a function that adds to it",
        procedures="real(8) function next(w)\n real(8), intent(in) :: w\n total = total + 1\n next = w\n end function",
        section=_SUM + "total = total + next(w)",
    ),
    _alike_f90(
        "handed to another procedure",
        procedures="subroutine note(v)\n real(8), intent(in) :: v(:)\n if (v(1) > 9) print *, 1\n end subroutine",
        late="if (mod(i, 999) == 0) call note(t%depth)",
    ),
    _alike_f90("record is copied", variables="type(tally) :: kept", late="if (i == 7) kept = t"),
    _alike_f90(
        "pointer to it",
        outside="type(tally), pointer :: all",
        after="if (all%n > 50) print *, k",
        variables="type(tally), target :: other",
        loop="all => other",
    ),
    _alike_f90(
        "another section of the name stores",
        procedures="subroutine reset(t)\n type(tally), intent(inout) :: t\n !$omp critical (score)\n t%events = 0\n !$omp end critical (score)\n end subroutine",
        late="if (i == 7) call reset(t)",
    ),
    _alike_f90(
        "loop in the section", local="integer :: j", section="do j = 1, 2\n t%depth(k) = t%depth(k) + w\n end do"
    ),
    _alike_f90("way out of the section", section=_SUM + "if (w > 9) return"),
    _alike_f90("another directive in it", section="!$omp flush\n" + _SUM),
    _alike_f90("volatile", outside="integer, volatile :: busy", section=_SUM + "busy = busy + 1"),
    _alike_f90(
        "waits for what others set",
        outside="logical :: ready = .false.",
        loop="if (i == 1) ready = .true.\n do while (.not. ready)\n call add(t, 1, 1d0)\n end do",
    ),
    _alike_f90("procedure that nobody has shown", late="if (i == 7) call report()"),
    _alike_f90(
        "reduction of it", late="!$omp simd reduction(+:total)\n do k = 1, 2\n end do", variables="integer :: k"
    ),
    miss_f90(
        "no parallel region",
        "fortran-atomic-instead-of-critical",
        fortran_base().replace("!$omp parallel do", "").replace("!$omp end parallel do", ""),
    ),
    miss_f90(
        "tasks",
        "fortran-atomic-instead-of-critical",
        fortran_base(loop="!$omp task\n call add(t, 1, 1d0)\n !$omp end task"),
    ),
    miss_f90("no tolerance", "fortran-atomic-instead-of-critical", fortran_base(), relative=0),
    _alike_f90("two statements in a line", section="t%depth(k) = t%depth(k) + w; t%events = t%events + 1"),
    _alike_f90("two statements, the second one first", section="t%n = t%n + 1; t%depth(k) = t%depth(k) + w"),
    _alike_f90(
        "a function that nobody has shown", late="if (shown(i) > 3) cycle", variables="integer, external :: shown"
    ),
    _alike_f90("greatest of three", section="t%depth(k) = max(t%depth(k), w, 3d0)"),
    _alike_f90(
        "an element of what a function gives",
        outside="integer, external :: chosen",
        section=_SUM + "t%events = t%events + chosen(k)",
    ),
    _alike_f90(
        "array from an expression",
        procedures="subroutine bump(v, k)\n real(8) :: v(:)\n integer, intent(in) :: k\n !$omp critical (score)\n v(k) = v(k) + 1\n !$omp end critical (score)\n end subroutine",
        late="call bump([1d0, 2d0], 1)",
    ),
    _alike_f90("divided", section="t%depth(k) = t%depth(k)/w"),
    _alike_f90("raised", section="t%depth(k) = t%depth(k)**2"),
    _alike_f90("product of something else", section="t%depth(k) = abs(t%depth(k))"),
    _alike_f90("truths", member="logical :: seen(40)", section=_SUM + "t%seen(k) = t%seen(k) .or. w > 3"),
    _alike_f90(
        "a procedure of the type",
        member="contains\n procedure :: show => shown",
        procedures="subroutine shown(t)\n class(tally), intent(in) :: t\n if (t%n > 99) print *, 1\n end subroutine",
        late="if (i == 7) call t%show()",
    ),
    _alike_f90("read in a line for OpenMP alone", late="!$ if (total > 900) print *, i"),
    _alike_f90("part of the text is elsewhere", late="include 'more.inc'"),
    _alike_f90(
        "record in a record is copied",
        outside="type :: run\n    type(tally) :: inner\n  end type\n  type(run) :: first, second",
        late="if (i == 7) first%inner = second%inner",
    ),
    miss_f90(
        "an internal procedure reads it",
        "fortran-atomic-instead-of-critical",
        internal_base("call put(3)\n if (deep()) cycle"),
    ),
    miss_f90(
        "it is read around an internal procedure",
        "fortran-atomic-instead-of-critical",
        internal_base("call put(3)\n if (hist(2) > 40) cycle"),
    ),
)

_CPP_BASE = """
{outside}
struct Grid {{
    std::vector<double> mass;
    long hits = 0;
    {member}
    explicit Grid(int n) : mass(n) {{}}
    double first() const {{ return mass[0]; }}
    void add(int k, double w)
    {{
#pragma omp critical
        {{ {section} }}
    }}
}};
int main()
{{
    Grid g(40);
    {before}
#pragma omp parallel for
    for (int i = 0; i < 20000; i++) {{ {loop} g.add(i % 40, i * 0.5); }}
    std::printf("%g %ld\\n", g.mass[3], g.hits);
}}
"""


def cpp_base(**parts: str) -> str:
    """The program with some parts; without any it is one that is changed."""
    plain = {"section": "mass[k] += w; ++hits;"}
    return _CPP_BASE.format(
        **{each: parts.get(each, plain.get(each, "")) for each in ("outside", "member", "section", "before", "loop")}
    )


def _alike_cpp(why: str, **parts: str) -> Miss:
    return miss_cpp(why, _ELEMENTS, cpp_base(**parts))


_MISSES_CPP = (
    _alike_cpp("read by a member function", loop="if (g.first() > 5) continue;"),
    _alike_cpp("read through a reference", before="const double &first = g.mass[0];", loop="if (first > 5) continue;"),
    _alike_cpp("read by a lambda", before="auto deep = [&] { return g.mass[0] > 5; };", loop="if (deep()) continue;"),
    _alike_cpp(
        "complex numbers",
        outside="#include <complex>",
        member="std::vector<std::complex<double>> z = std::vector<std::complex<double>>(40);",
        section="z[k] += w;",
    ),
    _alike_cpp(
        "numbers of a class",
        outside="struct Sum { double s = 0, c = 0; Sum &operator+=(double x) { double y = x - c; s += y; c = 0; return *this; } };",
        member="std::vector<Sum> z = std::vector<Sum>(40);",
        section="mass[k] += w; z[k] += w;",
    ),
    _alike_cpp("places of a map", member="std::map<int, double> z;", section="mass[k] += w; z[k] += w;"),
    _alike_cpp(
        "truths", member="std::vector<bool> z = std::vector<bool>(40);", section="mass[k] += w; z[k] = z[k] + 1;"
    ),
    _alike_cpp(
        "atomic already", outside="#include <atomic>", member="std::atomic<long> n{0};", section="mass[k] += w; n += 1;"
    ),
    _alike_cpp("object is copied", loop="Grid h = g;"),
    _alike_cpp(
        "object that nobody has shown",
        outside="struct Log; Log &logger(); struct View { explicit View(void *); double top(); };",
        before="View v(&g);",
        loop="if (v.top() > 5) continue;",
    ),
    _alike_cpp(
        "member that nobody has shown",
        outside="struct Log { void *of; double top() const; };",
        member="Log log{};",
        loop="if (g.log.top() > 5) continue;",
    ),
    _alike_cpp("written to a stream", loop="if (i == 77) std::cerr << i;"),
    _alike_cpp(
        "type of a template",
        outside="template <class T> void plus(T *v, int k, T w) {\n#pragma omp critical\n v[k] += w;\n}",
        loop="plus(g.mass.data(), i % 40, 1.0);",
    ),
)

ATOMIC_MISSES: tuple[Miss, ...] = (
    *_MISSES_C,
    *_MISSES_CPP,
    *_MISSES_LOCK,
    *_MISSES_FORTRAN,
)
