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


MUTEXES: tuple[Case, ...] = (
    c(
        "counts of four threads", _ATOMIC,
        tally("bin[k] = bin[k] - w; /* or more */ if (w > 0) { seen++; }", other="static void idle(void) { pthread_mutex_lock(&gate); seen |= 0; pthread_mutex_unlock(&gate); }"),
        "__atomic_fetch_sub(&bin[k], w, __ATOMIC_RELAXED);", "__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED)", has_not=("gate",),
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
)  # fmt: skip

MUTEX_MISSES: tuple[Miss, ...] = (
    miss_c("result is looked at", _ATOMIC, tally("if (++seen % 9 == 0) bin[k] += w;")),
    miss_c("reads what others write", _ATOMIC, tally("seen++; bin[k] += seen;")),
    miss_c("looked at under the mutex", _ATOMIC, tally(watch="pthread_mutex_lock(&gate); long s = seen; pthread_mutex_unlock(&gate); if (s > 9) first = 0;")),
    miss_c("also taken on trial", _ATOMIC, tally(watch="if (pthread_mutex_trylock(&gate) == 0) pthread_mutex_unlock(&gate);")),
    miss_c("waited for", _ATOMIC, tally(more="static pthread_cond_t any = PTHREAD_COND_INITIALIZER;", other="void rest(void) { pthread_mutex_lock(&gate); pthread_cond_wait(&any, &gate); pthread_mutex_unlock(&gate); }")),
    miss_c("another number is set", _ATOMIC, tally(other="void reset(void) { pthread_mutex_lock(&gate); seen = 0; pthread_mutex_unlock(&gate); }")),
    miss_c("numbers with a fraction", _ATOMIC, tally("mass += w;", more="static double mass;")),
    miss_c("added with a fraction", _ATOMIC, tally("bin[k] += 0.7 * w;")),
    miss_c("product", _ATOMIC, tally("bin[k] *= w;")),
    miss_c("taken by a macro", _ATOMIC, tally(more="#define ENTER pthread_mutex_lock(&gate)")),
    miss_cpp("the element may be made", _ATOMIC, "#include <mutex>\n#include <thread>\nstatic std::map<int, long> count; static std::mutex gate;\nvoid hit(int k) { std::lock_guard<std::mutex> hold(gate); count[k]++; }\nint main() { std::thread a([] { hit(1); }), b([] { hit(2); }); a.join(); b.join(); }"),
)  # fmt: skip
