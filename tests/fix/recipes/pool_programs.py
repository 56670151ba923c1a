# ruff: noqa: E501
"""Programs that allocate and free small blocks over and over, and such in which the library gives or takes memory as well."""

from __future__ import annotations

from tests.fix.recipes.cases import c
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss_c

MATRICES_H = """#ifndef MATRICES_H
#define MATRICES_H
typedef struct { int n, m; double *v; } Matrix;
#define AT(a, i, j) ((a)->v[(i) * (a)->m + (j)])
Matrix *make(int n, int m);
void drop(Matrix *a);
Matrix *times(const Matrix *a, const Matrix *b);
#endif
"""
MATRICES_C = """#include "matrices.h"
#include <stdlib.h>

/* all zero */
Matrix *make(int n, int m) {
  Matrix *a = malloc(sizeof *a);
  double *v = calloc((size_t)n * m, sizeof *v);
  if (!a || !v) exit(1);
  *a = (Matrix){n, m, v};
  return a;
}

void drop(Matrix *a) { free(a->v); free(a); }

Matrix *times(const Matrix *a, const Matrix *b) {
  Matrix *c = make(a->n, b->m);
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < b->m; j++)
      for (int k = 0; k < a->m; k++) AT(c, i, j) += AT(a, i, k) * AT(b, k, j);
  return c;
}
"""
MATRICES_MAIN = """#include <stdio.h>
#include <stdlib.h>
#include "matrices.h"

typedef struct { Matrix *a, *b; } Pair;

int main(void) {
  double s = 0;
  for (int r = 0; r < 300; r++) {
    Pair *p = malloc(sizeof *p);
    if (!p) return 1;
    p->a = make(2 + r % 3, 4);
    p->b = make(4, 1 + r % 5);
    for (int i = 0; i < 4; i++) AT(p->a, i % 2, i) = AT(p->b, i, 0) = r + i;
    Matrix *c = times(p->a, p->b);
    for (int i = 0; i < c->n; i++)
      for (int j = 0; j < c->m; j++) s += AT(c, i, j) * (i + 1) / (j + 2);
    drop(c);
    drop(p->a);
    drop(p->b);
    free(p);
  }
  printf("%.17g\\n", s);
  return 0;
}
"""
_ALL_SIZES = """
#include <errno.h>
#include <stdint.h>
static uint32_t seed = 5;
static unsigned draw(unsigned n) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % n; }
static unsigned char *all[300];
static size_t size[300];
static long bad;
static unsigned many(void) { return draw(8) ? draw(540) : draw(90000); }
static void fill(int k, size_t from) { for (size_t i = from; i < size[k]; i++) all[k][i] = (unsigned char)(k + 7 * i); }
static void check(int k) { for (size_t i = 0; i < size[k]; i++) bad += all[k][i] != (unsigned char)(k + 7 * i); }
int main(void) {
  long aligned = 0, zero = 0;
  for (int r = 0; r < 60000; r++) {
    int k = (int)draw(300), what = (int)draw(4);
    if (all[k]) check(k);
    if (what == 0) {
      free(all[k]);
      size[k] = many();
      all[k] = malloc(size[k]);
      fill(k, 0);
    } else if (what == 1) {
      free(all[k]);
      size_t of = 1 + draw(12), n = many() / of;
      size[k] = n * of;
      all[k] = calloc(n, of);
      for (size_t i = 0; i < size[k]; i++) zero += all[k][i] == 0;
      zero -= (long)size[k];
      fill(k, 0);
    } else if (what == 2) {
      size_t n = 1 + many(), old = size[k];
      all[k] = realloc(all[k], n);
      size[k] = n;
      if (n > old) fill(k, old);
    } else {
      free(all[k]);
      all[k] = NULL;
      size[k] = 0;
    }
    aligned += (uintptr_t)all[k] % 16 != 0;
  }
  errno = 0;
  volatile size_t huge = SIZE_MAX;
  void *none = malloc(huge - 7), *others = calloc(huge / 4, 8), *same = malloc(40);
  int code = errno;
  void *more = realloc(same, huge - 3);
  printf("%ld %ld %ld %d %d %d %d %u\\n", bad, aligned, zero, none == NULL, others == NULL, more == NULL, code == ENOMEM, seed);
  free(same);
  for (int k = 0; k < 300; k++) free(all[k]);
  free(NULL);
  return 0;
}
"""
#: What is allocated, used and freed, with something else before and meanwhile.
_USED = 'int main(int argc, char **argv) { long s = 0; (void)argv; for (int i = 0; i < 99; i++) { char *p = malloc(40 + i); p[i] = 3; s += p[i]; free(p); %s } printf("%%ld %%d", s, argc); return 0; }'


def _miss(why: str, meanwhile: str = "", before: str = "") -> Miss:
    one = miss_c(why, "pool-blocks", before + "\n" + _USED % meanwhile)
    return Miss(why, "pool-blocks", "c", one.source, "allocation-churn")


POOLED = (
    c("all sizes", "pool-blocks", _ALL_SIZES, "pooled_realloc(all[k], n)", "pooled_calloc(n, of)", "pooled_free(NULL)"),
    c(
        "behind a macro, and a member of that name", "pool-blocks",
        """
#define NEW(T) ((T *)malloc(sizeof(T)))
typedef struct Node { struct Node *next; double w[3]; } Node;
static const char *words = "malloc(8) and free(it)"; /* free(them) */
static Node *push(Node *top, double x) { Node *one = NEW(Node); if (!one) exit(1); one->w[1] = x; one->next = top; return one; }
static char *joined(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  char *to = malloc(n + m + 1);
  if (!to) exit(1);
  memcpy(to, a, n);
  memcpy(to + n, b, m + 1);
  return to;
}
int main(void) {
  double s = 0;
  for (int r = 0; r < 200; r++) {
    Node *top = NULL;
    for (int i = 0; i < 1000; i++) top = push(top, i * r);
    while (top) { Node *next = top->next; s += top->w[1]; free(top); top = next; }
    char *text = joined(words, "; really free(it)");
    s += text[r % 20];
    free(text);
  }
  printf("%.17g\\n", s);
  return 0;
}
""", "#define NEW(T) ((T *)pooled_malloc(sizeof(T)))", "static inline void pooled_free(", "\"malloc(8) and free(it)\"",
    ),
)  # fmt: skip

POOL_MISSES = (
    _miss("a text of the library is freed", "char *t = strdup(\"abc\"); s += t[1]; free(t);"),
    _miss("a text of the library behind a macro", "char *t = COPY(\"abc\"); s += t[1]; free(t);", "#define COPY(s) strdup(s)"),
    _miss("a line of the library is freed", "{ char *t = NULL; size_t n = 0; if (getline(&t, &n, stdin) > 0) s += t[0]; free(t); }"),
    _miss("a text that is printed to memory", "{ char *t; if (asprintf(&t, \"%%d\", i) > 0) s += t[0]; free(t); }", "#define _GNU_SOURCE"),
    _miss("a stream to memory", "{ char *t; size_t n; FILE *f = open_memstream(&t, &n); fputs(\"a\", f); fclose(f); free(t); }"),
    _miss("scanf allocates", "{ char *t = NULL; if (sscanf(\"abc\", \"%%ms\", &t) == 1) s += t[0]; free(t); }"),
    _miss("scanf allocates so many", "{ char *t = NULL; if (sscanf(\"abc\", \"%%12m[a-c]\", &t) == 1) s += t[0]; free(t); }"),
    _miss("memory of another alignment", "{ void *t; if (posix_memalign(&t, 64, 64) == 0) free(t); }"),
    _miss("memory by another call", "{ void *t = aligned_alloc(64, 64); free(t); }"),
    _miss("free is handed on", before="void (*done)(void *) = free;"),
    _miss("malloc is handed on", before="struct hooks { void *(*make)(size_t); } hooks = {malloc};"),
    _miss("the program has its own", before="#define free(p) release(p)\nstatic void release(void *p) { (void)p; }"),
    _miss("a member of that name is called", "things.free(p);", "void nothing(void *p); struct { void (*free)(void *); } things;"),
    _miss("a function that is not there", "{ char *t = made(i); free(t); }", "char *made(int i);"),
    _miss("a library that is not known", before="#include <regex.h>"),
    _miss("a header that is not there", before="#include \"other.h\""),
    _miss("threads", before="#include <pthread.h>"),
    _miss("threads of OpenMP", before="static double v[9];\nvoid f(void) {\n#pragma omp parallel for\n for (int i = 0; i < 9; i++) v[i] = i; }"),
    _miss("asks how large a block is", "s += (long)malloc_usable_size(p);", "#include <stddef.h>\nsize_t malloc_usable_size(void *);"),
    _miss("moves the end of the heap", "s += (long)sbrk(0);", "#include <unistd.h>"),
    _miss("written for the machine", "__asm__ volatile(\"\");"),
    Miss("no main", "pool-blocks", "c", "#include <stdlib.h>\nchar *f(int n) { char *p = malloc(n); if (n > 3) { free(p); p = malloc(2); } return p; }", "allocation-churn"),
    Miss("nothing is freed", "pool-blocks", "c", "#include <stdlib.h>\n#include <stdio.h>\nint main(void) { char *p = malloc(9); p[3] = 1; printf(\"%d\", p[3]); return 0; }", "allocation-churn"),
    Miss("the function allocates nothing", "pool-blocks", "c", "#include <stdio.h>\nint main(void) { printf(\"malloc(3) free(it)\"); return 0; }", "allocation-churn"),
)  # fmt: skip
