"""Small programs with threads and something to mend, in the many ways in which such programs are written."""

from __future__ import annotations

from tests.fix.recipes.programs import Case

THREADED = (
    Case(
        "counter of the region", "drop-sections", "c",
        """
#include <stdio.h>
#include <omp.h>
double integrate(long n)
{
    double h = 1.0 / n, sum = 0.0;
    long i;
    #pragma omp parallel
    {
        double x;
        #pragma omp for
        for (i = 0; i < n; i++) {
            x = h * (i + 0.5);
            #pragma omp critical (acc)
            {
                sum += 4.0 / (1.0 + x * x);
            }
        }
    }
    return sum * h;
}
int main(void) { printf("%.9f\\n", integrate(200000)); return 0; }
""",
        ("reduction(+ : sum)",), ("critical",), 1e-09, None,
    ),
    Case(
        "lock", "drop-sections", "c",
        """
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
static long total;
static omp_lock_t lck;
static void tally(const int *v, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int w = v[i] % 17 + v[i] % 5;
        omp_set_lock(&lck);
        total += w;
        omp_unset_lock(&lck);
    }
}
int main(void)
{
    int n = 100000, *v = malloc(n * sizeof *v);
    for (int i = 0; i < n; i++) v[i] = (i * 7919L) % 10007;
    omp_init_lock(&lck);
    tally(v, n);
    omp_destroy_lock(&lck);
    printf("%ld\\n", total);
    return 0;
}
""",
        ("reduction(+ : total)",), ("omp_set_lock(&lck);\n        total",), 0, None,
    ),
    Case(
        "greatest values", "drop-sections", "c",
        """
#include <stdio.h>
#include <math.h>
#include <float.h>
static double f(double x) { return sin(x) * exp(-x / 50) + cos(3 * x); }
double peak(int n)
{
    double best = -DBL_MAX;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = f(i * 0.01);
#pragma omp critical
        if (v > best) best = v;
    }
    return best;
}
double peak2(int n)
{
    double best = -1e300, low = 1e300;
    int i;
#pragma omp parallel for schedule(static)
    for (i = 0; i < n; i++) {
        double v = f(i * 0.02);
#pragma omp critical
        {
            if (v > best)
                best = v;
            if (low > v) { low = v; }
        }
    }
    return best - low;
}
double peak3(int n)
{
    double best = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = f(i * 0.03);
#pragma omp critical
        best = fmax(best, v);
    }
    return best;
}
int main(void) { printf("%.12f %.12f %.12f\\n", peak(100000), peak2(100000), peak3(50000)); return 0; }
""",
        ("reduction(max : best) reduction(min : low)", "for reduction(max : best)",), ("critical",), 0, None,
    ),
    Case(
        "named in a clause", "drop-sections", "c",
        """
#include <stdio.h>
#include <math.h>
/* critical around too much: the heavy part needs no protection */
static double heavy(int i) { double s = 0; for (int k = 1; k < 60; k++) s += sqrt(i + k) / k; return s; }
int main(void)
{
    int n = 20000, i;
    double sum = 0, worst = 0;
    long count = 0;
#pragma omp parallel for shared(sum, count) private(i)
    for (i = 0; i < n; i++) {
#pragma omp critical
        {
            double e = heavy(i);
            double d = e * 0.5 - 3;
            sum += d;
            if (d > 30) count++;
        }
    }
    printf("%.8f %ld %g\\n", sum, count, worst);
    return 0;
}
""",
        ("private(i) reduction(+ : count, sum)",), ("shared(sum",), 1e-09, None,
    ),
    Case(
        "counts by thread", "keep-in-variable", "c",
        """
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>
#define MAXT 64
static long hits[MAXT];
int main(void)
{
    long n = 400000, total = 0;
#pragma omp parallel
    {
        int tid = omp_get_thread_num();
        unsigned s = 12345u + 77u;
#pragma omp for schedule(static)
        for (long i = 0; i < n; i++) {
            unsigned a = (unsigned)(i * 2654435761u), b = (unsigned)(i * 40503u) ^ s;
            if ((a >> 16) * (a >> 16) / 65536 + (b & 0xffff) < 70000)
                hits[tid]++;
        }
    }
    for (int t = 0; t < MAXT; t++) total += hits[t];
    printf("%ld\\n", total);
    return 0;
}
""",
        ("long own_hits = hits[tid];", "hits[tid] = own_hits;",), ("hits[tid]++",), 0, None,
    ),
    Case(
        "vector by thread", "keep-in-variable", "c++",
        """
#include <cstdio>
#include <thread>
#include <vector>
#include <functional>
static void work(std::vector<long> &counts, int id, int nt, const std::vector<int> &data) {
  for (size_t i = id; i < data.size(); i += nt)
    if (data[i] % 3 == 0) counts[id] += data[i];
}
int main() {
  const int nt = 4;
  std::vector<int> data(200000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = int(i * 31 % 1009);
  std::vector<long> counts(nt, 0);
  std::vector<std::thread> pool;
  for (int t = 0; t < nt; ++t) pool.emplace_back(work, std::ref(counts), t, nt, std::cref(data));
  for (auto &th : pool) th.join();
  long s = 0;
  for (long c : counts) s += c;
  std::printf("%ld\\n", s);
}
""",
        ("own_counts += data[i]", "if (own_counts != 0) counts[id] += own_counts;",), (), 0, None,
    ),
    Case(
        "sums of lambdas", "keep-in-variable", "c++",
        """
#include <iostream>
#include <thread>
#include <vector>
#include <cmath>
int main() {
  const int T = 4;
  const int N = 100000;
  double partial[T] = {0};
  std::vector<std::thread> ts;
  for (int t = 0; t < T; t++) {
    ts.emplace_back([&, t]() {
      for (int i = t; i < N; i += T) {
        partial[t] += std::sqrt(double(i)) * 0.5;
      }
    });
  }
  for (auto& th : ts) th.join();
  double s = 0;
  for (int t = 0; t < T; t++) s += partial[t];
  std::printf("%.9f\\n", s);
}
""",
        ("double own_partial = partial[t];",), (), 0, None,
    ),
    Case(
        "jobs", "keep-in-variable", "c",
        """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define NT 4
typedef struct {
    int id;
    int lo, hi;
    long odd;
    long even;
} job_t;
static job_t jobs[NT];
static void *run(void *arg)
{
    job_t *j = (job_t *)arg;
    for (int i = j->lo; i < j->hi; i++) {
        if ((i * 31) & 4) j->odd += i % 7;
        else j->even += i % 5;
    }
    return NULL;
}
int main(void)
{
    pthread_t th[NT];
    int n = 400000;
    for (int t = 0; t < NT; t++) {
        jobs[t].id = t;
        jobs[t].lo = t * (n / NT);
        jobs[t].hi = (t + 1) * (n / NT);
        pthread_create(&th[t], NULL, run, &jobs[t]);
    }
    long a = 0, b = 0;
    for (int t = 0; t < NT; t++) { pthread_join(th[t], NULL); a += jobs[t].odd; b += jobs[t].even; }
    printf("%ld %ld\\n", a, b);
    return 0;
}
""",
        ("own_odd += i % 7", "own_even += i % 5",), (), 0, None,
    ),
    Case(
        "members of two threads", "keep-in-variable", "c",
        """
#include <pthread.h>
#include <stdio.h>
/* two counters in one record, each written by another thread */
struct stats { long produced; long consumed; };
static struct stats st;
static void *prod(void *p) { long n = *(long *)p; for (long i = 0; i < n; i++) st.produced += i & 3; return 0; }
static void *cons(void *p) { long n = *(long *)p; for (long i = 0; i < n; i++) st.consumed += i & 5; return 0; }
int main(void)
{
    pthread_t a, b; long n = 300000;
    pthread_create(&a, NULL, prod, &n);
    pthread_create(&b, NULL, cons, &n);
    pthread_join(a, NULL); pthread_join(b, NULL);
    printf("%ld %ld\\n", st.produced, st.consumed);
    return 0;
}
""",
        ("own_produced", "own_consumed",), (), 0, None,
    ),
    Case(
        "few blocks", "collapse-loops", "c",
        """
#include <stdio.h>
#include <math.h>
#define NB 3
#define NX 200
#define NY 100
static double u[NB][NX][NY];
int main(void)
{
    int b, i, j;
#pragma omp parallel for private(i, j)
    for (b = 0; b < NB; b++)
        for (i = 0; i < NX; i++)
            for (j = 0; j < NY; j++)
                u[b][i][j] = sin(0.01 * i) * cos(0.02 * j) + b;
    double s = 0;
    for (b = 0; b < NB; b++) for (i = 0; i < NX; i++) for (j = 0; j < NY; j++) s += u[b][i][j];
    printf("%.9f\\n", s);
    return 0;
}
""",
        ("private(i, j) collapse(2)",), (), 1e-09, None,
    ),
)  # fmt: skip
