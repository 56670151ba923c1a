# ruff: noqa: E501
"""Programs whose threads hold mutexes or wait, and programs that look like them."""

from __future__ import annotations

from tests.fix.recipes.cases import Case, c, cpp
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss_c
from tests.fix.recipes.misses import cpp as miss_cpp

_ATOMIC = "atomic-instead-of-mutex"


def tally(section: str = "bin[k] += w;", *, more: str = "", other: str = "", watch: str = "") -> str:
    """Threads that count under a mutex: the section, what stands outside functions, another section, what threads do at last."""
    return f"""
#include <pthread.h>
#include <unistd.h>
static long bin[64], seen;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
{more}
static void hit(int k, long w)
{{
    pthread_mutex_lock(&gate);
    {section}
    pthread_mutex_unlock(&gate);
}}
static void *work(void *arg)
{{
    long first = (long)arg;
    for (long i = first; i < 40000; i += 4) hit((int)(i * 7 % 64), i % 5 - 1);
    {watch}
    return NULL;
}}
{other}
int main(void)
{{
    pthread_t t[4];
    for (long k = 0; k < 4; k++) pthread_create(&t[k], NULL, work, (void *)k);
    for (int k = 0; k < 4; k++) pthread_join(t[k], NULL);
    for (int k = 0; k < 64; k++) printf("%ld ", bin[k]);
    printf("%ld\\n", seen);
    return 0;
}}
"""


_REGION = "keep-in-region"


def shares(
    body: str = "int me = omp_get_thread_num(); odd[me] += v[i] & 1; if (v[i] > top[me].most) top[me].most = v[i];",
    *,
    words: str = "",
    more: str = "",
) -> str:
    """A loop whose threads write elements of their own: its body, clauses of it, and what stands outside functions."""
    return f"""
#include <omp.h>
typedef struct {{ long most, least; }} Top;
static long odd[64]; static Top top[64];
{more}
static void scan(const long *v, long n, long *part)
{{
    #pragma omp parallel for {words}
    for (long i = 0; i < n; i++) {{
        {body}
    }}
}}
int main(void)
{{
    long n = 100000, *v = malloc(n * sizeof *v), s = 0, most = 0, p = 0, part[64] = {{0}};
    for (long i = 0; i < n; i++) v[i] = i * 7919 % 100003;
    for (int k = 0; k < 5; k++) scan(v, n, part);
    for (int k = 0; k < 64; k++) {{ s += odd[k]; p += part[k]; most = top[k].most > most ? top[k].most : most; }}
    printf("%ld %ld %ld\\n", s, most, p);
    return 0;
}}
"""


_WAKE = "wake-waiting-threads"


def queue(
    wait: str = "while (stage_ != mine) usleep(300);", *, step: str = "stage_++;", more: str = "", before: str = ""
) -> str:
    """Threads that take turns: how they wait, how they hand on, a member and what is done before all."""
    return f"""
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>
class Line {{
 public:
  void run(int mine, int rounds, int all) {{
    for (int k = 0; k < rounds; k++) {{
      {wait}
      sum_ = sum_ * 3 % 10007 + mine;
      if (mine == all - 1)
        stage_ = 0;
      else
        {step}
    }}
  }}
  long sum() const {{ return sum_; }}
  {more}
 private:
  long sum_ = 1;
  std::atomic<int> stage_{{0}};
}};
int main() {{
  Line line;
  {before}
  std::vector<std::thread> crew;
  for (int t = 0; t < 3; t++) crew.emplace_back([&line, t] {{ line.run(t, 20, 3); }});
  for (auto &one : crew) one.join();
  std::printf("%ld\\n", line.sum());
}}
"""


_RETRY = "wait-instead-of-retry"


def mailbox(
    *,
    full: str = "if (b->used == b->size) {{ pthread_mutex_unlock(&b->door); return 0; }}",
    drop: str = "while (!drop(b, k)) usleep(200);",
    last: str = "return 1;",
    more: str = "",
    fetch: str = "if (got == 0) {{ usleep(200); continue; }}",
) -> str:
    """One thread drops numbers into a box and another fetches them: both try again after a sleep."""
    return f"""
#include <pthread.h>
#include <unistd.h>
typedef struct Box {{ long *item; int used, size, ended; pthread_mutex_t door; }} Box;
static int drop(Box *b, long k)
{{
    pthread_mutex_lock(&b->door);
    {full.replace("{{", "{").replace("}}", "}")}
    b->item[b->used++] = k;
    pthread_mutex_unlock(&b->door);
    {last}
}}
static int fetch(Box *b, long *k)
{{
    int did = 0;
    pthread_mutex_lock(&b->door);
    if (b->used) {{
        *k = b->item[--b->used];
        did = 1;
    }} else if (b->ended == 1)
        did = -1;
    pthread_mutex_unlock(&b->door);
    return did;
}}
{more}
static void *give(void *arg)
{{
    Box *b = arg;
    for (long k = 1; k <= 300; k++)
        {drop}
    pthread_mutex_lock(&b->door);
    b->ended = 1;
    pthread_mutex_unlock(&b->door);
    return NULL;
}}
int main(void)
{{
    Box *b = calloc(1, sizeof *b);
    long k, sum = 0;
    int got;
    pthread_t t;
    b->size = 4;
    b->item = calloc(b->size, sizeof *b->item);
    pthread_mutex_init(&b->door, NULL);
    pthread_create(&t, NULL, give, b);
    while ((got = fetch(b, &k)) != -1) {{
        {fetch.replace("{{", "{").replace("}}", "}")}
        sum += k;
    }}
    pthread_join(t, NULL);
    pthread_mutex_destroy(&b->door);
    printf("%ld\\n", sum);
    return 0;
}}
"""


def job(
    condition: str = "j->left > 0", *, at_end: str = "j->left--;", more: str = "", between: str = "usleep(500);"
) -> str:
    """Threads that count down under a mutex, and one that looks again and again whether all are done."""
    return f"""
#include <pthread.h>
#include <unistd.h>
typedef struct {{ pthread_mutex_t guard; int left; double part[4]; }} Job;
static Job all = {{ .guard = PTHREAD_MUTEX_INITIALIZER, .left = 4 }};
{more}
static void *work(void *arg)
{{
    Job *j = &all;
    int k = (int)(long)arg;
    for (int i = 1; i < 2000; i++) j->part[k] += 1.0 / (i + k);
    pthread_mutex_lock(&j->guard);
    {at_end}
    pthread_mutex_unlock(&j->guard);
    return NULL;
}}
int main(void)
{{
    Job *j = &all;
    pthread_t t[4];
    for (long k = 0; k < 4; k++) pthread_create(&t[k], NULL, work, (void *)k);
    pthread_mutex_lock(&j->guard);
    while ({condition}) {{
        pthread_mutex_unlock(&j->guard);
        {between}
        pthread_mutex_lock(&j->guard);
    }}
    pthread_mutex_unlock(&j->guard);
    printf("%.15g\\n", j->part[0] + j->part[1] + j->part[2] + j->part[3]);
    for (int k = 0; k < 4; k++) pthread_join(t[k], NULL);
    return 0;
}}
"""


MUTEXES: tuple[Case, ...] = (
    c(
        "counts of four threads", _ATOMIC,
        tally("bin[k] = bin[k] - w; /* or more */ if (w > 0) { seen++; }", other="static void idle(void) { pthread_mutex_lock(&gate); seen |= 0; pthread_mutex_unlock(&gate); }"),
        "__atomic_fetch_sub(&bin[k], w, __ATOMIC_RELAXED);", "__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED)", has_not=("gate",),
    ),
    cpp(
        "looked at one by one", _ATOMIC, """
#include <mutex>
#include <thread>
class Counter {
 public:
  void up(long by) { std::lock_guard<std::mutex> hold(m_); n_ += by; }
  long now() const {
    std::lock_guard<std::mutex> hold(m_);
    return n_;
  }
 private:
  long n_ = 0;
  mutable std::mutex m_;
};
int main() {
  Counter c;
  std::thread a([&] { for (int i = 0; i < 9999; i++) c.up(i % 3); }), b([&] { for (int i = 0; i < 9999; i++) c.up(2); });
  long seen = c.now();
  a.join();
  b.join();
  std::printf("%ld %d\\n", c.now(), seen >= 0);
}
""", "return __atomic_load_n(&n_, __ATOMIC_SEQ_CST);", "__atomic_fetch_add(&n_, by, __ATOMIC_SEQ_CST);", has_not=("m_;",),
    ),
    cpp(
        "class with a guard", _ATOMIC, """
#include <mutex>
#include <thread>
class Votes {
 public:
  explicit Votes(int n) : count_(n) {}
  void cast(unsigned who, int weight) {
    std::lock_guard<std::mutex> hold(mutex_);
    count_[who % count_.size()] += weight;
    ++all_;
  }
  long of(int k) const { return count_[k]; }
  long all() const { return all_; }
 private:
  std::vector<long> count_;
  long all_ = 0;
  std::mutex mutex_;
};
int main() {
  Votes v(20);
  std::vector<std::thread> crew;
  for (unsigned t = 0; t < 4; t++)
    crew.emplace_back([&v, t] { for (unsigned i = t; i < 50000; i += 4) v.cast(i * 31 % 1009, 1 + i % 3); });
  for (auto &one : crew) one.join();
  for (int k = 0; k < 20; k++) std::printf("%ld ", v.of(k));
  std::printf("%ld\\n", v.all());
}
""", "__atomic_fetch_add(&count_[who % count_.size()], weight, __ATOMIC_RELAXED);", has_not=("mutex_",),
    ),
    c(
        "counts and maxima of threads", _REGION, shares(words="schedule(static, 64) firstprivate(part)"),
        "#pragma omp parallel firstprivate(part)\n", "long own_most = top[me].most;", "#pragma omp for schedule(static, 64) nowait", "top[me].most = own_most;",
    ),
    c(
        "number asked for in the index", _REGION, shares("part[omp_get_thread_num()] += v[i] % 3;"),
        "long own_part = part[thread];", has_not=("part[omp_get_thread_num()]",),
    ),
    c(
        "two arrays and a record of the heap", _REGION, """
#include <omp.h>
typedef struct { double sum, square; long hits; } Stat;
static void spread(const double *v, int n, Stat *stat)
{
    int most = omp_get_max_threads();
    long *low = calloc(most, sizeof *low), *high = calloc(most, sizeof *high), l = 0, h = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int id = omp_get_thread_num();
        if (v[i] < 0.25)
            low[id]++;
        else
            high[id] += 2;
        stat[id].sum += v[i];
        stat[id].square += v[i] * v[i];
        stat[id].hits++;
    }
    for (int k = 0; k < most; k++) { l += low[k]; h += high[k]; }
    printf("%ld %ld\\n", l, h);
    free(low);
    free(high);
}
int main(void)
{
    Stat *stat = calloc(omp_get_max_threads(), sizeof *stat);
    double *v = malloc(5000 * sizeof *v), a = 0, b = 0;
    long c = 0;
    for (int i = 0; i < 5000; i++) v[i] = (i * 37 % 64) / 64.0;
    spread(v, 5000, stat);
    for (int k = 0; k < omp_get_max_threads(); k++) { a += stat[k].sum; b += stat[k].square; c += stat[k].hits; }
    printf("%.9f %.9f %ld\\n", a, b, c);
    return 0;
}
""", "stat[id].hits = own_hits;", "low[id] = own_low;", "high[id] = own_high;", relative=1e-12,
    ),
    cpp(
        "vector of a class", _REGION, """
#include <omp.h>
struct Sums {
  std::vector<double> part = std::vector<double>(omp_get_max_threads());
  void add(const std::vector<double> &v) {
#pragma omp parallel for
    for (std::size_t i = 0; i < v.size(); i++) {
      const int t = omp_get_thread_num();
      double x = v[i];
      part[t] += x > 0.5 ? x : 0.25;
    }
  }
};
int main() {
  Sums s;
  std::vector<double> v(4096);
  for (std::size_t i = 0; i < v.size(); i++) v[i] = (i * 37 % 64) / 64.0;
  s.add(v);
  double all = 0;
  for (double x : s.part) all += x;
  std::printf("%.9f\\n", all);
}
""", "const int t = omp_get_thread_num();\n    double own_part = part[t];", relative=1e-12,
    ),
    cpp(
        "turns", _WAKE, queue(), "while (stage_ != mine) stage_changed_.wait(hold);", "std::mutex stage_mutex_;",
        "std::lock_guard<std::mutex> hold(stage_mutex_);\n          stage_ = 0;", has_not=("usleep",),
    ),
    cpp(
        "variable of a function", _WAKE, """
#include <atomic>
#include <chrono>
#include <thread>
struct Box { double value; };
int main() {
  Box box{1.5};
  std::atomic<bool> full{false};
  std::thread giver([&] {
    box.value = std::sqrt(box.value) * 4;
    full.store(true, std::memory_order_release);
  });
  while (!full.load(std::memory_order_acquire)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("%.17g\\n", box.value);
  giver.join();
}
""", "while (!full.load(std::memory_order_acquire)) full_changed.wait(hold);", "full_changed.notify_all();", has_not=("sleep_for",),
    ),
    c(
        "flag of the file", _WAKE, """
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int phase;
static long cells[100];
static void *fill(void *arg)
{
    for (int k = 0; k < 100; k++) cells[k] = k * k;
    atomic_store(&phase, 1);
    return arg;
}
static void *twice(void *arg)
{
    while (atomic_load(&phase) < 1) {
        struct timespec rest = {0, 200000};
        nanosleep(&rest, NULL);
    }
    for (int k = 0; k < 100; k++) cells[k] *= 2;
    phase = 2;
    return arg;
}
int main(void)
{
    pthread_t a, b;
    long s = 0;
    pthread_create(&b, NULL, twice, NULL);
    pthread_create(&a, NULL, fill, NULL);
    struct timespec rest = {0, 100000};
    while (phase != 2)
        nanosleep(&rest, NULL);
    for (int k = 0; k < 100; k++) s += cells[k];
    printf("%ld\\n", s);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
""", "while (phase != 2) pthread_cond_wait(&phase_changed, &phase_mutex);", "pthread_cond_broadcast(&phase_changed);", has_not=("nanosleep",),
    ),
    c(
        "box of two threads", _RETRY, mailbox(), "while (b->used == b->size) pthread_cond_wait(&b->changed, &b->door);",
        "while (!b->used && b->ended != 1) pthread_cond_wait(&b->changed, &b->door);", "pthread_cond_init(&b->changed, NULL);",
        "pthread_cond_destroy(&b->changed);", "        drop(b, k);", "b->ended = 1;\n    pthread_cond_broadcast(&b->changed);", has_not=("usleep(",),
    ),
    c(
        "no condition variable yet", "wait-on-condition", job(), "while (j->left > 0) pthread_cond_wait(&j->changed, &j->guard);",
        "j->left--;\n    pthread_cond_broadcast(&j->changed);", ".changed = PTHREAD_COND_INITIALIZER", has_not=("usleep(",),
    ),
)  # fmt: skip

MUTEX_MISSES: tuple[Miss, ...] = (
    miss_c("result is looked at", _ATOMIC, tally("if (++seen % 9 == 0) bin[k] += w;")),
    miss_c("reads what others write", _ATOMIC, tally("seen++; bin[k] += seen;")),
    miss_c("looked at under the mutex", _ATOMIC, tally("seen++;", watch="pthread_mutex_lock(&gate); long s = seen; if (s > 9) first = 0; pthread_mutex_unlock(&gate);")),
    miss_c("two numbers that belong together are looked at", _ATOMIC, tally("seen++; bin[k] += w;", other="long all(void) { pthread_mutex_lock(&gate); long s = seen; pthread_mutex_unlock(&gate); return s; }")),
    miss_c("also taken on trial", _ATOMIC, tally(watch="if (pthread_mutex_trylock(&gate) == 0) pthread_mutex_unlock(&gate);")),
    miss_c("waited for", _ATOMIC, tally(more="static pthread_cond_t any = PTHREAD_COND_INITIALIZER;", other="void rest(void) { pthread_mutex_lock(&gate); pthread_cond_wait(&any, &gate); pthread_mutex_unlock(&gate); }")),
    miss_c("another number is set", _ATOMIC, tally(other="void reset(void) { pthread_mutex_lock(&gate); seen = 0; pthread_mutex_unlock(&gate); }")),
    miss_c("numbers with a fraction", _ATOMIC, tally("mass += w;", more="static double mass;")),
    miss_c("added with a fraction", _ATOMIC, tally("bin[k] += 0.7 * w;")),
    miss_c("product", _ATOMIC, tally("bin[k] *= w;")),
    miss_c("taken by a macro", _ATOMIC, tally(more="#define ENTER pthread_mutex_lock(&gate)")),
    miss_cpp("the element may be made", _ATOMIC, "#include <mutex>\n#include <thread>\nstatic std::map<int, long> count; static std::mutex gate;\nvoid hit(int k) { std::lock_guard<std::mutex> hold(gate); count[k]++; }\nint main() { std::thread a([] { hit(1); }), b([] { hit(2); }); a.join(); b.join(); }"),
    miss_c("elements of other threads are read", _REGION, shares("int me = omp_get_thread_num(); odd[me] += v[i] & 1; if (odd[0] > 9) odd[me]++;")),
    miss_c("number chooses something else", _REGION, shares("int me = omp_get_thread_num(); odd[me] += me > 2 ? v[i] : 1;")),
    miss_c("pointer to the element", _REGION, shares("int me = omp_get_thread_num(); long *p = &odd[me]; *p += v[i]; odd[me]++;")),
    miss_c("number is changed", _REGION, shares("int me = omp_get_thread_num(); if (i & 1) me = 0; odd[me] += v[i] & 1;")),
    miss_c("array of each thread", _REGION, shares("int me = omp_get_thread_num(); part[me] += v[i] & 1;", words="private(part)")),
    miss_c("pointer set in each iteration", _REGION, shares("int me = omp_get_thread_num(); long *p = i & 1 ? odd : part; p[me] += v[i] & 1;")),
    miss_c("callee uses the array", _REGION, shares("int me = omp_get_thread_num(); odd[me] += v[i] & 1; twice(); ", more="static void twice(void) { odd[omp_get_thread_num()] *= 2; }")),
    miss_c("two pointers", _REGION, shares("int me = omp_get_thread_num(); part[me] += v[i] & 1; odd[me]++;", more="static void scan(const long *, long, long *);\nvoid both(const long *v) { scan(v, 9, odd); }")),
    miss_c("barrier for each", _REGION, shares("int me = omp_get_thread_num();\n#pragma omp critical\n odd[me] += v[i] & 1;")),
    miss_c("volatile", _REGION, shares("int me = omp_get_thread_num(); live[me] += v[i] & 1;", more="static volatile long live[64];")),
    miss_cpp("what was there is used", _WAKE, queue(step="if (stage_++ > 9) sum_ = 0;")),
    miss_cpp("handed on by reference", _WAKE, queue(more="void next(std::atomic<int> &s) { s++; }\n  void skip() { next(stage_); }")),
    miss_cpp("set by a signal handler", _WAKE, queue(before="std::signal(SIGINT, SIG_DFL);")),
    miss_cpp("a thread that nobody joins", _WAKE, queue(before="std::thread([] {}).detach();")),
    miss_cpp("does something between", _WAKE, queue("while (stage_ != mine) { usleep(300); tries_++; }", more="long tries_ = 0;")),
    miss_cpp("waits for something else as well", _WAKE, queue("while (stage_ != mine && !over_) usleep(300);", more="bool over_ = false; void end() { over_ = true; }")),
    miss_cpp("asks a function", _WAKE, queue("while (stage_ != mine && time(nullptr) > 0) usleep(300);")),
    miss_cpp("calls a function to set it", _WAKE, queue(step="stage_ = next(mine);", more="int next(int k) { usleep(9); return k + 1; }")),
    miss_c("may be left alone", _RETRY, mailbox(full="if (b->used == b->size) { pthread_mutex_unlock(&b->door); return 0; }", drop="if (!drop(b, k)) usleep(200);", fetch="if (got == 0) break;")),
    miss_c("success may be 0", _RETRY, mailbox(last="return k;", fetch="if (got == 0) break;")),
    miss_c("argument of each try", _RETRY, mailbox(drop="while (!drop(b, k++)) usleep(200);", fetch="if (got == 0) break;")),
    miss_c("gives up in the end", _RETRY, mailbox(drop="for (int n = 0; n < 9 && !drop(b, k); n++) usleep(200);", fetch="if (got == 0) break;")),
    miss_c("changed without the mutex", _RETRY, mailbox(more="void stop(Box *b) { b->ended = 2; b->size++; b->used = 0; }")),
    miss_c("tried once elsewhere", _RETRY, mailbox(more="int once(Box *b, long *k) { return fetch(b, k) + drop(b, 1); }")),
    miss_c("changed by its address", _RETRY, mailbox(more="int *room(Box *b) { return &b->used; }")),
    miss_c("looked at by a function", "wait-on-condition", job("left(j) > 0", more="static int left(const Job *j) { usleep(1); return j->left; }")),
    miss_c("counted without the mutex", "wait-on-condition", job(more="void skip(Job *j) { j->left--; }")),
    miss_c("counted by its address", "wait-on-condition", job(more="int *rest(Job *j) { return &j->left; }")),
    miss_c("counts the looks", "wait-on-condition", job(between="j->part[0] += 1;")),
)  # fmt: skip
