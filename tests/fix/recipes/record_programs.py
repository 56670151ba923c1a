# ruff: noqa: E501
"""Programs whose loops use little of large records, and such in which the records must stay as they are."""

from __future__ import annotations

from tests.fix.recipes.cases import c, cpp
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss_c
from tests.fix.recipes.misses import cpp as miss_cpp

RECORDS = (
    c(
        "an array on the heap with a table in each record", "split-structure",
        """
typedef struct {
  double x, v; /* where and how fast */
  double history[14];
} Fish;

static double step(Fish *f, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    f[i].x += 0.1 * f[i].v;
    s += f[i].x;
  }
  return s;
}

static double past(const Fish *f, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 14; k++) s += f[i].history[k] * (k + 1);
  return s;
}

int main(void) {
  int n = 300;
  Fish *fish = (Fish *)malloc(n * sizeof(Fish));
  if (!fish) return 1;
  for (int i = 0; i < n; i++) {
    Fish *one = &fish[i];
    one->x = i * 0.5;
    one->v = 1.0 / (i + 1);
    for (int k = 0; k < 14; k++) one->history[k] = i % (k + 2);
  }
  printf("%.17g %.17g\\n", step(fish, n), past(fish, n));
  free(fish);
  return 0;
}
""", "with_rest(fish, n);", "one->rest->history[k]", "double x, v;  /* where and how fast */", "if (fish) free(fish->rest);",
    ),
    c(
        "a static array, several members in one declaration", "split-structure",
        """
struct atom {
  double x, y, z, mass;
  double charge, radius, *shared;
  long id, kind[3];
  char name[16];
};

static struct atom atoms[500];

static double sum_x(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += atoms[i].x;
  return s;
}

static void describe(const struct atom *a) { printf("%s %ld %ld %g %g\\n", a->name, a->id, a->kind[2], a->mass, a->charge + a->radius); }

int main(void) {
  for (int i = 0; i < 500; i++) {
    atoms[i].x = atoms[i].y = atoms[i].z = i;
    atoms[i].mass = 2 * i; atoms[i].charge = -i; atoms[i].radius = 0.5; atoms[i].shared = NULL;
    atoms[i].id = i; atoms[i].kind[2] = i % 7;
    snprintf(atoms[i].name, sizeof atoms[i].name, "a%d", i);
  }
  describe(&atoms[7]);
  describe(atoms + 499);
  printf("%g\\n", sum_x(500));
  return 0;
}
""", "with_rest(atoms, sizeof atoms / sizeof *atoms);", "sizeof atoms[i].rest->name",
    ),
    c(
        "a list whose records are made one by one", "split-structure",
        """
typedef struct Node {
  struct Node *next;
  int key;
  char text[100];
} Node;

static Node *push(Node *head, int key) {
  Node *one;
  one = malloc(sizeof *one);
  one->next = head;
  one->key = key;
  sprintf(one->text, "key %d", key);
  return one;
}

static const Node *find(const Node *head, int key) {
  while (head && head->key != key) head = head->next;
  return head;
}

int main(void) {
  Node *head = NULL;
  for (int i = 0; i < 50; i++) head = push(head, i * 7 % 50);
  for (int i = 0; i < 50; i += 9) printf("%s\\n", find(head, i)->text);
  while (head) {
    Node *next = head->next;
    free(head);
    head = next;
  }
  return 0;
}
""", "with_rest(one, 1);", "one->rest->text", "if (head) free(head->rest);",
    ),
    c(
        "what is called uses a member too", "split-structure",
        """
typedef struct { double x, w, note[12]; } Item;
static double weight(const Item *one) { return one->w; }
static double total(const Item *all, size_t n) {
  double s = 0;
  for (const Item *p = all; p < all + n; p++) s += p->x * weight(p);
  return s;
}
int main(void) {
  Item *all = calloc(40, sizeof(Item));
  for (int i = 0; i < 40; i++) { all[i].x = i; all[i].w = 0.5; all[i].note[3] = i; }
  printf("%g %g\\n", total(all, 40), all[39].note[3]);
  return 0;
}
""", "double x, w;", "double note[12];", "with_rest(all, 40);",
    ),
    c(
        "two factors before the size", "split-structure",
        """
typedef struct { double t; double flux[9]; } Cell;
typedef struct { int nx, ny; Cell *cells; } Grid;
static void make(Grid *g, int nx, int ny) {
  g->nx = nx;
  g->ny = ny;
  g->cells = calloc((size_t)nx * ny, sizeof *g->cells);
  for (int k = 0; k < nx * ny; k++) { g->cells[k].t = k; g->cells[k].flux[k % 9] = 1; }
}
static double heat(const Grid *g) {
  double s = 0;
  for (int y = 0; y < g->ny; y++)
    for (int x = 0; x < g->nx; x++) s += g->cells[y * g->nx + x].t;
  return s;
}
int main(void) {
  Grid g;
  make(&g, 12, 9);
  printf("%g %g\\n", heat(&g), g.cells[5].flux[5]);
  return 0;
}
""", "with_rest(g->cells, (size_t)nx * ny);", "g.cells[5].rest->flux[5]",
    ),
    cpp(
        "records in vectors, copied, moved and sorted", "split-structure",
        """
#include <algorithm>
struct Particle {
  double x, v; // moves
  double force[3];
  char name[24];
  int cell, kind;
};
struct World {
  std::vector<Particle> all;
  std::map<int, Particle> marked;
};
static double push(std::vector<Particle> &all, double dt) {
  double s = 0;
  for (auto &p : all) { p.x += dt * p.v; s += p.x; }
  return s;
}
static Particle heavier(Particle one, double by) { one.force[0] *= by; one.name[0] = '!'; return one; }
static std::vector<Particle> half(const std::vector<Particle> &all) {
  std::vector<Particle> some(all.begin(), all.begin() + all.size() / 2);
  for (auto one : some) one.kind = 99;
  return some;
}
int main() {
  World w;
  w.all.resize(30);
  for (std::size_t i = 0; i < w.all.size(); i++) { w.all[i].x = 0; w.all[i].v = (double)(i * 7 % 30); w.all[i].force[0] = 2.0 * i; w.all[i].kind = (int)i; std::snprintf(w.all[i].name, 24, "p%d", (int)i); }
  Particle extra = w.all[3];
  extra.name[0] = 'x';
  for (int k = 0; k < 40; k++) { extra.kind = 100 + k; w.all.push_back(extra); }
  std::sort(w.all.begin(), w.all.end(), [](const Particle &a, const Particle &b) { return a.v != b.v ? a.v < b.v : a.kind < b.kind; });
  std::swap(w.all[1], w.all[2]);
  w.all[5] = w.all[6];
  w.all[6].kind = -1;
  w.all.erase(w.all.begin() + 8);
  w.marked[4] = heavier(w.all[9], 3);
  Particle moved = std::move(w.all[0]);
  w.all[0].kind = 7;
  auto some = half(w.all);
  Particle *held = new Particle(w.all[12]);
  held->force[0] = 1;
  std::printf("%g %zu %s %d %g\\n", push(w.all, 0.25), some.size(), moved.name, moved.kind, held->force[0]);
  delete held;
  for (const auto &p : w.all) std::printf("%s %d %g\\n", p.name, p.kind, p.force[0]);
  std::printf("%s %g\\n", w.marked[4].name, w.marked[4].force[0]);
}
""", "Apart<ParticleRest> rest;", "double x, v;  // moves", "held->rest->force[0]", "a.rest->kind < b.rest->kind",
    ),
    cpp(
        "an array by new and delete", "split-structure",
        """
struct Body { double x; double m; float colour[20]; };
double centre(const Body *b, int n) {
  double s = 0, m = 0;
  for (int i = 0; i < n; ++i) { s += b[i].x * b[i].m; m += b[i].m; }
  return s / m;
}
int main() {
  const int n = 64;
  Body *bodies = new Body[n];
  for (int i = 0; i < n; ++i) { bodies[i].x = i; bodies[i].m = 1 + i % 3; bodies[i].colour[19] = i; }
  std::printf("%g %g\\n", centre(bodies, n), (double)bodies[63].colour[19]);
  delete[] bodies;
}
""", "Apart<BodyRest> rest;", "bodies[63].rest->colour[19]",
    ),
    cpp(
        "C++ that allocates as C does", "split-structure",
        """
struct Body { double x; double m; float colour[20]; };
static double centre(const Body *b, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += b[i].x * b[i].m;
  return s;
}
int main() {
  const int n = 64;
  Body *bodies = (Body *)malloc(sizeof(Body) * n);
  for (int i = 0; i < n; ++i) { bodies[i].x = i; bodies[i].m = 1 + i % 3; bodies[i].colour[19] = i; }
  std::printf("%g %g\\n", centre(bodies, n), (double)bodies[63].colour[19]);
  free(bodies);
}
""", "with_rest(bodies, n);", "free(bodies->rest);",
    ),
)  # fmt: skip

_BIG = "typedef struct { double x; double more[15]; } Big;\n"
_SUM = "static double sum(Big *b, int n) { double s = 0; for (int i = 0; i < n; i++) s += b[i].x; return s; }\n"
_MAKE = "Big *b = malloc(n * sizeof *b); "


def _c(why: str, rest: str, before: str = "") -> Miss:
    return miss_c(why, "split-structure", _BIG + before + _SUM + rest)


RECORD_MISSES = (
    _c("records are copied", f"double f(int n) {{ {_MAKE} b[0] = b[1]; return sum(b, n); }}"),
    _c("records are exchanged through a variable", f"double f(int n) {{ {_MAKE} Big t = b[0]; b[0].x = b[1].x; return sum(b, n) + t.more[2]; }}"),
    _c("a record is handed over by value", f"static double of(Big one) {{ return one.more[2]; }}\ndouble f(int n) {{ {_MAKE} return sum(b, n) + of(b[1]); }}"),
    _c("a record is returned", f"static Big of(Big *all) {{ return all[3]; }}\ndouble f(int n) {{ {_MAKE} return sum(b, n) + of(b).more[1]; }}"),
    _c("records are written as bytes", f"double f(int n, FILE *o) {{ {_MAKE} fwrite(b, sizeof *b, n, o); return sum(b, n); }}"),
    _c("records are copied as bytes", f"double f(int n, Big *o) {{ {_MAKE} memcpy(b, o, n * sizeof(Big)); return sum(b, n); }}"),
    _c("records are set to zero as bytes", f"double f(int n) {{ {_MAKE} memset(b, 0, n * sizeof(Big)); return sum(b, n); }}"),
    _c("records are copied by a number of bytes", f"double f(int n, Big *o) {{ {_MAKE} memcpy(b, o, n * 128); return sum(b, n); }}"),
    _c("the records are sorted by the library", f"static int by(const void *a, const void *b) {{ return 0; }}\ndouble f(int n) {{ {_MAKE} qsort(b, n, sizeof *b, by); return sum(b, n); }}"),
    _c("the room grows", f"double f(int n) {{ {_MAKE} b = realloc(b, 2 * n * sizeof *b); return sum(b, n); }}"),
    _c("the memory is taken from a buffer", "static char room[99999];\ndouble f(int n) { Big *b = (Big *)room; return sum(b, n); }"),
    _c("the memory comes from somewhere", "void *take(size_t);\ndouble f(int n) { Big *b = take(n * sizeof(Big)); return sum(b, n); }"),
    _c("the memory comes from a function of the program", "static void *take(size_t n) { return malloc(n); }\ndouble f(int n) { Big *b = take(n * sizeof(Big)); return sum(b, n); }"),
    _c("records lie in other records", f"typedef struct {{ Big one; int k; }} Pair;\ndouble f(int n, Pair *p) {{ {_MAKE} return sum(b, n) + p->one.more[1]; }}"),
    _c("records have values from the beginning", "static Big b[3] = {{1, {2}}, {3, {4}}};\nint main(void) { printf(\"%g %g\", sum(b, 3), b[1].more[0]); }"),
    _c("a member is named in a list", "int main(void) { Big b = {.more = {1}}; return (int)sum(&b, 1); }"),
    _c("a macro names a member", f"#define MORE(p, k) ((p)->more[k])\ndouble f(int n) {{ {_MAKE} return sum(b, n) + MORE(b, 2); }}"),
    _c("a macro allocates them", "#define NEW(n) malloc((n) * sizeof(Big))\ndouble f(int n) { Big *b = NEW(n), *c = malloc(n * sizeof *c); return sum(b, n) + c[0].x; }"),
    _c("records are seen as numbers", f"double f(int n) {{ {_MAKE} double *d = (double *)b; return sum(b, n) + d[17]; }}"),
    _c("the place of a member is asked for", f"#include <stddef.h>\ndouble f(int n) {{ {_MAKE} return sum(b, n) + offsetof(Big, more); }}"),
    _c("the records go to another library", f"void library(Big *all, int n);\ndouble f(int n) {{ {_MAKE} library(b, n); return sum(b, n); }}"),
    _c("an array of arrays", "static Big all[3][4];\nint main(void) { printf(\"%g\", sum(all[0], 4) + all[1][1].more[1]); }"),
    _c("an array in a function that is called again", "static double f(void) { Big b[4]; b[0].x = b[1].x = b[2].x = b[3].x = 1; return sum(b, 4); }\nint main(void) { printf(\"%g\", f() + f()); }"),
    _c("allocated in a condition", "double f(int n) { Big *b; if (!(b = malloc(n * sizeof *b))) return 0; return sum(b, n); }"),
    _c("the number of records counts something", "double f(int n) { Big *b = malloc(n++ * sizeof *b); return sum(b, n); }"),
    miss_c("the loop uses most of it", "split-structure", "typedef struct { double x, y, z, w; double more[3]; } Big;\nstatic double sum(Big *b, int n) { double s = 0; for (int i = 0; i < n; i++) s += b[i].x + b[i].y + b[i].z + b[i].w; return s; }\ndouble f(int n) { Big *b = malloc(n * sizeof *b); return sum(b, n); }"),
    miss_c("the rest is used in what the loop calls", "split-structure", _BIG + "static double of(const Big *one) { return one->more[4]; }\nstatic double sum(Big *b, int n) { double s = 0; for (int i = 0; i < n; i++) s += b[i].x + of(b + i); return s; }\ndouble f(int n) { Big *b = malloc(n * sizeof *b); return sum(b, n); }"),
    miss_c("a union", "split-structure", "typedef union { double d; long l; } Both;\n" + _BIG + _SUM + "double f(int n) { Big *b = malloc(n * sizeof *b); return sum(b, n); }"),
    miss_c("bits", "split-structure", "typedef struct { double x; unsigned a : 3, b : 4; double more[15]; } Big;\n" + _SUM + "double f(int n) { Big *b = malloc(n * sizeof *b); return sum(b, n); }"),
    miss_cpp("records are copied as bytes in C++", "split-structure", "#include <cstring>\nstruct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); Big c; memcpy(&c, &b[1], 128); std::printf(\"%g\", sum(b) + c.more[1]); }"),
    miss_cpp("the size of a record is used", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); std::printf(\"%g %zu\", sum(b), sizeof(Big)); }"),
    miss_cpp("the items go to another library", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nvoid library(const void *, int);\nint main() { std::vector<Big> b(3); library(b.data(), 3); std::printf(\"%g\", sum(b)); }"),
    miss_cpp("values in braces", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); Big c = {1, {2}}; b[0] = c; std::printf(\"%g\", sum(b)); }"),
    miss_cpp("values in braces without a name", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b; b.push_back({1, {2}}); std::printf(\"%g\", sum(b)); }"),
    miss_cpp("values in braces behind the name", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); b[1] = Big{1, {2}}; std::printf(\"%g\", sum(b)); }"),
    miss_cpp("a result in braces", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nBig make() { return {1, {2}}; }\nint main() { std::vector<Big> b(3); b[1] = make(); std::printf(\"%g\", sum(b)); }"),
    miss_cpp("another record is built on it", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nstruct Bigger : Big { int k; };\nint main() { std::vector<Big> b(3); Bigger c; c.k = 1; std::printf(\"%g\", sum(b) + c.k); }"),
    miss_cpp("some are allocated and some constructed", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); Big *c = (Big *)malloc(sizeof(Big)); c->x = 1; b[0] = *c; std::printf(\"%g\", sum(b)); }"),
    miss_cpp("a record is seen as numbers in C++", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); auto d = reinterpret_cast<double *>(&b[0]); std::printf(\"%g\", sum(b) + d[3]); }"),
    miss_cpp("a constant of the compiler", "split-structure", "struct Big { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nconstexpr Big NONE = Big();\nint main() { std::vector<Big> b(3); b[0] = NONE; std::printf(\"%g\", sum(b)); }"),
    miss_cpp("the record has functions", "split-structure", "struct Big { double x; double more[15]; double last() const { return more[14]; } };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); std::printf(\"%g\", sum(b) + b[0].last()); }"),
    miss_cpp("a text moves on", "split-structure", "struct Big { double x; std::string more[5]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); b[1].more[1] = \"a\"; Big c = std::move(b[1]); std::printf(\"%g %zu %s\", sum(b), b[1].more[1].size(), c.more[1].c_str()); }"),
    miss_cpp("the record is built on another", "split-structure", "struct Small { int k; }; struct Big : Small { double x; double more[15]; };\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); std::printf(\"%g\", sum(b) + b[0].more[1]); }"),
    miss_cpp("a template", "split-structure", "struct Big { double x; double more[15]; };\ntemplate <class T> T twice(const T &one) { T two = one; return two; }\ndouble sum(const std::vector<Big> &b) { double s = 0; for (auto &one : b) s += one.x; return s; }\nint main() { std::vector<Big> b(3); twice(b[1]); std::printf(\"%g\", sum(b)); }"),
)  # fmt: skip
