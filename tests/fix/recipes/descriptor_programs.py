# ruff: noqa: E501
"""Programs that read a file in small pieces by its descriptor, and such in which reading ahead would be noticed."""

from __future__ import annotations

from tests.fix.recipes.cases import Case, cpp
from tests.fix.recipes.cases import c as _c
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss_c
from tests.fix.recipes.misses import cpp as miss_cpp

_HEAD = "#include <errno.h>\n#include <fcntl.h>\n#include <unistd.h>\n"
_MAKE = """
static void make(const char *path, int n) {
  FILE *f = fopen(path, "w");
  for (int i = 0; i < n; i++) fprintf(f, "%d ", i * 7919 % 100003);
  fclose(f);
}
"""
#: Reads of many sizes and seeks of all kinds, some of them wrong, each with what it gives and where it ends.
_RANDOM = """
static unsigned s = 7, sum;
static unsigned draw(unsigned n) { s = s * 1664525u + 1013904223u; return (s >> 8) % n; }
static char some[200000];
static void take(int fd, size_t size) {
  ssize_t n = read(fd, some, size);
  sum = sum * 31 + (unsigned)n;
  for (ssize_t k = 0; k < n; k++) sum = sum * 31 + (unsigned char)some[k];
}
static int word(int fd) { int w = 0; return read(fd, &w, sizeof w) == (ssize_t)sizeof w ? w : -1; }
"""
_ONE = (
    "int fd = open(argv[1], O_RDONLY); char c; long s = 0; if (fd < 0) return 1; while (read(fd, &c, 1) == 1) s += c; "
)


def _case(name: str, body: str, *has: str) -> Case:
    return _c(name, "read-in-blocks", _HEAD + body, *has, cause="io-small-requests")


def _miss(why: str, body: str) -> Miss:
    return miss_c(why, "read-in-blocks", _HEAD + body)


def _main(why: str, after: str = 'close(fd); printf("%ld", s);', before: str = "", beginning: str = _ONE) -> Miss:
    return _miss(why, f"{before}\nint main(int argc, char **argv) {{ (void)argc; {beginning}{after} return 0; }}")


DESCRIPTORS = (
    _case(
        "back after a bad frame, the descriptor a member beside another",
        _MAKE + """
struct link { long offset; int fd; };
static int next_byte(struct link *l) {
  unsigned char b;
  if (read(l->fd, &b, 1) != 1) return -1;
  l->offset++;
  return b;
}
static void go_to(struct link *l, long offset) {
  if (lseek(l->fd, (off_t)offset, SEEK_SET) < 0) exit(1);
  l->offset = offset;
}
int main(void) {
  static struct link l;
  long bad = 0, good = 0;
  int b;
  make("in.txt", 60000);
  l.fd = open("in.txt", O_RDONLY);
  if (l.fd < 0) return 1;
  while ((b = next_byte(&l)) >= 0) {
    long start = l.offset;
    int sum = b;
    for (int k = 0; k < 20 && (b = next_byte(&l)) >= 0; k++) sum += b;
    if (sum % 3) { bad++; go_to(&l, start); } else good++;
  }
  close(l.fd);
  remove("in.txt");
  printf("%ld %ld %ld\\n", bad, good, l.offset);
  return 0;
}
""", "block_read(l->fd, &b, 1)", "block_seek(l->fd, (off_t)offset, SEEK_SET)", "block_close(l.fd)",
    ),
    _case(
        "all sizes and places",
        _MAKE + _RANDOM + """
int main(void) {
  make("in.txt", 90000);
  int fd = open("in.txt", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 1;
  for (int i = 0; i < 40000; i++) {
    unsigned what = draw(40);
    if (what < 20) sum = sum * 31 + (unsigned)word(fd);
    else if (what < 25) take(fd, draw(300));
    else if (what < 26) take(fd, draw(200000));
    else {
      int whence = what < 31 ? SEEK_SET : what < 38 ? SEEK_CUR : SEEK_END;
      long at = whence == SEEK_SET ? (long)draw(560000) : whence == SEEK_CUR ? (long)draw(3000) - 1500 : -(long)draw(560000);
      if (what == 37) at *= 100;
      if (what == 30) at = -at;
      errno = 0;
      long there = (long)lseek(fd, at, whence);
      sum = sum * 31 + (unsigned)there + (there < 0 ? (unsigned)errno : 0);
    }
    if (i % 100 == 0) printf("%u %ld\\n", sum, (long)lseek(fd, 0, SEEK_CUR));
  }
  errno = 0;
  printf("%u %d\\n", sum, close(fd));
  sum = (unsigned)word(fd);
  printf("%u %d\\n", sum, errno == EBADF);
  remove("in.txt");
  return 0;
}
""", "block_read(fd, &w, sizeof w)", "block_read(fd, some, size)", "block_seek(fd, at, whence)",
    ),
    _case(
        "many files at once, opened again and again",
        _MAKE + """
typedef struct { double x; int k; } R;
static int opened(const char *path) { int fd = open(path, O_RDONLY); if (fd < 0) exit(1); return fd; }
static unsigned one(int fd) { unsigned char b[8]; return read(fd, b, sizeof(b)) == 8 ? b[0] * 31u + b[7] : 0; }
int main(void) {
  unsigned s = 1;
  make("a.txt", 30000);
  make("b.txt", 20000);
  for (int r = 0; r < 5; r++) {
    int all[1] = {0}, a = opened("a.txt"), b = opened("b.txt"), c, d, e, f, g, h, k = opened("a.txt");
    c = opened("b.txt"); d = opened("b.txt"); e = opened("a.txt"); f = opened("a.txt"); g = opened("b.txt"); h = opened("a.txt");
    for (int i = 0; i < 3000; i++) {
      s = s * 31 + one(a) + one(b) * 3 + one(c) * 5 + one(d) * 7 + one(e) * 11 + one(f) * 13 + one(g) * 17 + one(h) * 19;
      if (i % 3 == r % 3) s += one(k) + one(a) + all[0];
    }
    close(a); close(b); close(c); close(d); close(e); close(f); close(g); close(h); close(k);
  }
  remove("a.txt"); remove("b.txt");
  printf("%u %zu\\n", s, sizeof(R));
  return 0;
}
""", "block_read(fd, b, sizeof(b))",
    ),
    _case(
        "lines, each by a call of its own",
        _MAKE + """
static int line(int fd, char *to, int room) {
  int n = 0;
  char c;
  while (read(fd, &c, 1) == 1) { if (c == ' ') return n; if (n < room) to[n++] = c; }
  return n ? n : -1;
}
int main(void) {
  char word[20];
  long s = 0;
  int n;
  make("in.txt", 30000);
  int fd = open("in.txt", O_RDONLY);
  while ((n = line(fd, word, 20)) >= 0) s = (s * 7 + n + word[0]) % 1000003;
  close(fd);
  remove("in.txt");
  printf("%ld\\n", s);
  return 0;
}
""", "while (block_read(fd, &c, 1) == 1)",
    ),
    _case(
        "what is no file with an end",
        """
#include <sys/stat.h>
static int taken(int fd) { char c; return read(fd, &c, 1) == 1 ? c : -1; }
int main(void) {
  int fd = open("/dev/zero", O_RDONLY), n = 0;
  for (int i = 0; i < 3000; i++) n += taken(fd) == 0;
  close(fd);
  fd = open("/proc/self/stat", O_RDONLY);
  errno = 0;
  for (int i = 0; i < 30; i++) n += taken(fd) >= 0;
  n += errno;
  close(fd);
  fd = open(".", O_RDONLY);
  errno = 0;
  n += taken(fd);
  printf("%d %d\\n", n, errno == EISDIR);
  close(fd);
  printf("%d %d\\n", taken(-1), errno == EBADF);
  return 0;
}
""".replace("taken(-1)", "taken(fd)"), "block_read(fd, &c, 1)",
    ),
    _case(
        "standard input or a file",
        _MAKE + """
static int fd;
static int take(void) { char c; return read(fd, &c, 1) == 1 ? c : -1; }
int main(int argc, char **argv) {
  long s = 0;
  make("in.txt", 3000);
  for (int r = 0; r < 3; r++) {
    fd = r > 0 ? open(argc > 1 ? argv[1] : "in.txt", O_RDONLY) : STDIN_FILENO;
    for (int c; (c = take()) >= 0;) s = (s * 31 + c) % 1000003;
    if (fd) close(fd);
    fd = 0;
    printf("%ld\\n", s);
  }
  remove("in.txt");
  return 0;
}
""", "block_read(fd, &c, 1)",
    ),
    _case(
        "handed around in many ways",
        _MAKE + """
#define FAIL(what) (fprintf(stderr, "%s\\n", what), exit(1))
struct tape { int fd, spare; long n; };
struct pair { struct tape a, b; };
struct other { int fd; };
static struct pair both = {{0}, {0}};
static struct tape third = {.fd = -1, .n = 3};
static struct other unlike = {.fd = -1};
static int last = -1;
static int opened(const char *path) {
  int fd;
  if ((fd = open(path, O_RDONLY | O_NOCTTY)) < 0 || !fd || !(fd > 0)) return -1;
  return last = fd;
}
static int again(const char *path) { return opened(path); }
static int which(int a, int b, int first) { return first ? (int)a : b; }
static long all(int fd, long *n) {
  short w;
  long s = 0;
  if (isatty(fd)) return -1;
  while (read(fd, &w, sizeof(short)) == sizeof(short)) { s = (s * 31 + w) % 1000003; (*n)++; }
  return s;
}
int main(void) {
  struct tape more[2] = {{.n = 1}, {.spare = 2}};
  struct more { struct size { int w, h; } size; long k; } sized = {{3, 4}, 5};
  int a, b, c = -1;
  make("in.txt", 5000);
  a = b = opened("in.txt");
  both.a.fd = b;
  both.b.fd = again("in.txt");
  third.fd = c < 0 ? again("in.txt") : c;
  more[1].fd = third.fd;
  unlike.fd += 7;
  if (third.fd == -1) FAIL("third");
  long s = all(both.a.fd, &both.a.n) + 3 * all(which(both.b.fd, a, 1), &both.b.n) + 5 * all(more[1].fd, &more[0].n);
  printf("%ld %ld %ld %ld %d %d %d\\n", s, both.a.n, both.b.n, more[0].n + third.n, unlike.fd, more[1].spare + sized.size.h, last < 0);
  close(a);
  close(both.b.fd);
  close(third.fd);
  remove("in.txt");
  return 0;
}
""", "block_read(fd, &w, sizeof(short))", "block_close(third.fd)",
    ),
    cpp(
        "in C++, a class, and what is found is written afterwards", "read-in-blocks",
        "#include <fcntl.h>\n#include <unistd.h>\n" + _MAKE + """
struct Tape { int fd = -1; long n = 0; bool ok() const { return n >= 0; } };
static int byte(Tape &t) { unsigned char b; if (::read(t.fd, &b, 1) != 1) return -1; t.n++; return b; }
int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "in.txt";
  make(path, 30000);
  Tape t;
  t.fd = open(path, O_RDONLY);
  if (!t.ok()) return 1;
  long s = 0;
  for (int b; (b = byte(t)) >= 0;) s = (s * 31 + b) % 1000003;
  close(t.fd);
  FILE *out = fopen(path, "w");
  std::fprintf(out, "%ld\\n", s);
  fclose(out);
  remove(path);
  std::printf("%ld %ld\\n", s, t.n);
}
""", "block_read(t.fd, &b, 1)",
    ),
)  # fmt: skip

DESCRIPTOR_MISSES = (
    _main("the descriptor is doubled", "int other = dup(fd); close(other); printf(\"%ld\", s);"),
    _main("the file is mapped", "char *p = mmap(NULL, 9, 1, 2, fd, 0); printf(\"%d\", p[0]);", "#include <sys/mman.h>\n"),
    _main("it becomes a stream", "FILE *f = fdopen(fd, \"r\"); printf(\"%d %ld\", fgetc(f), s);"),
    _main("a function that is not known gets it", "take_over(fd); printf(\"%ld\", s);", "void take_over(int fd);"),
    _main("its address is taken", "change(&fd); close(fd); printf(\"%ld\", s);", "void change(int *fd);"),
    _main("written meanwhile", beginning="int fd = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY | O_APPEND); char c; long s = 0; while (read(fd, &c, 1) == 1) { s += c; if (c == 'x') write(out, &c, 1); } close(out); "),
    _main("a stream that may be the same is written meanwhile", beginning="int fd = open(argv[1], O_RDONLY); FILE *out = fopen(argv[2], \"a\"); char c; long s = 0; while (read(fd, &c, 1) == 1) { s += c; if (c == 'x') fputc(c, out); } "),
    _main("written before and flushed meanwhile", beginning="FILE *out = fopen(\"x\", \"w\"); fputs(\"abc\", out); int fd = open(\"x\", O_RDONLY); char c; long s = 0; while (read(fd, &c, 1) == 1) { s += c; fflush(out); } "),
    _main("another file takes its name meanwhile", beginning="int fd = open(\"x\", O_RDONLY); char c; long s = 0; while (read(fd, &c, 1) == 1) { s += c; rename(\"y\", \"x\"); close(fd); fd = open(\"x\", O_RDONLY); } "),
    _main("read and written", beginning=_ONE.replace("O_RDONLY", "O_RDWR")),
    _main("does not wait", beginning=_ONE.replace("O_RDONLY", "O_RDONLY | O_NONBLOCK")),
    _main("flags that are not known", beginning="int how = argc; " + _ONE.replace("O_RDONLY", "how")),
    _main("standard input", beginning="char c; long s = 0; int fd = STDIN_FILENO; while (read(fd, &c, 1) == 1) s += c; "),
    _main("standard input by its number", "printf(\"%ld\", s);", beginning="char c; long s = 0; while (read(0, &c, 1) == 1) s += c; "),
    _main("another process reads on", beginning="if (fork()) return 0; " + _ONE),
    _main("threads", before="#include <pthread.h>\nvoid *g(void *); void h(void) { pthread_t t; pthread_create(&t, 0, g, 0); }"),
    _main("signals", before="#include <signal.h>\nvoid g(int); void h(void) { signal(2, g); }"),
    _main("a child runs", beginning=_ONE.replace("s += c;", "{ s += c; system(\"date >> x\"); }")),
    _main("the program has its own read", before="#define read mine\nstatic ssize_t mine(int fd, void *to, size_t n) { (void)fd; (void)to; return (ssize_t)n - 1; }"),
    _main("a macro reads", before="#define NEXT(fd, c) (read(fd, &c, 1) == 1)\n", beginning=_ONE.replace("read(fd, &c, 1) == 1", "NEXT(fd, c)")),
    _main("a macro has it", after="printf(\"%ld\", s + MORE);", before="long more(int);\n#define MORE more(fd)\n"),
    _main("a table of them", beginning="int fds[2] = {open(argv[1], O_RDONLY), open(argv[2], O_RDONLY)}; char c; long s = 0; for (int k = 0; k < 2; k++) while (read(fds[k], &c, 1) == 1) s += c; int fd = fds[0]; "),
    _main("large pieces", beginning="char c[65536]; int fd = open(argv[1], O_RDONLY); long s = 0, n; while ((n = read(fd, c, sizeof c)) > 0) s += n; "),
    _main("as many as somebody says", beginning="char c[65536]; int fd = open(argv[1], O_RDONLY); long s = 0, n; while ((n = read(fd, c, argc)) > 0) s += n; "),
    _main("all descriptors are closed", "for (int k = 3; k < 99; k++) close(k); printf(\"%ld\", s);"),
    _main("a number is made of it", "printf(\"%ld\", s + (fd + 1) * 2);"),
    _miss("a list in braces gives the member its value", "struct R { int fd; long n; };\nint main(void) { struct R r = {3, 0}; char c; if (r.n) r.fd = open(\"x\", O_RDONLY); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("another place in memory is seen as the record", "union U { struct R { int fd; long n; } r; int k[4]; };\nint main(void) { union U u; char c; u.r.n = 0; u.r.fd = open(\"x\", O_RDONLY); while (read(u.r.fd, &c, 1) == 1) u.r.n++; u.k[0] = 0; printf(\"%ld\", u.r.n); return 0; }"),
    _miss("the function is called from somewhere else", "static long f(int fd) { char c; long s = 0; while (read(fd, &c, 1) == 1) s++; return s; }\nlong (*how)(int) = f;\nint main(void) { int fd = open(\"x\", O_RDONLY); printf(\"%ld\", how(fd) + f(fd)); return 0; }"),
    _main("standard output becomes a file", beginning="char c; long s = 0; freopen(argv[2], \"w\", stdout); int fd = open(argv[1], O_RDONLY); while (read(fd, &c, 1) == 1) { s += c; printf(\"%ld\", s); } "),
    _miss("another member of that name, of what is not known", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); unknown(3)->fd = 4; while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("a list names another descriptor", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); struct R z = {.fd = 7}; r.n += z.n; while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("a variable outside begins with a number", "struct R { int fd; long n; };\nstatic int last = 7; int main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); last = r.fd; lseek(last, 1, 0); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("comes back from a function that is handed on", "struct R { int fd; long n; };\nstatic int from(const char *p) { return open(p, O_RDONLY); }\nint (*way)(const char *) = from; int main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); r.fd = from(argv[1]); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("a function gives something else", "struct R { int fd; long n; };\nstatic int from(const char *p) { if (p[0] == 0) return 7; return open(p, O_RDONLY); } int main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); r.fd = from(argv[1]); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("one of two is another", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); r.fd = argc > 2 ? open(argv[1], O_RDONLY) : open(argv[2], O_RDWR); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("an address of a member", "struct R { int fd; long n; };\nvoid take(int *); int main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); take(&r.fd); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("an unsigned number", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); unsigned d = r.fd; lseek(d, 1, 0); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("goes out of the function that is handed on", "struct R { int fd; long n; };\nstatic int out(struct R *p) { return p->fd; }\nstatic int (*give)(struct R *); int main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); give = out; r.fd = give(&r); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("a function of many arguments", "struct R { int fd; long n; };\nstatic void many(int n, ...) { (void)n; } int main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); many(2, r.fd, 3); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("a pointer is called", "struct R { int fd; long n; };\nstatic void (*give)(int); int main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); give(r.fd); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("main is called", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); if (argc == 7) main(r.fd, argv); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("moves by a function of the same name", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); (lseek)(r.fd, 1, 0); while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("a part of it", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); r.fd |= 1; while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _miss("a literal of the record", "struct R { int fd; long n; };\nint main(int argc, char **argv) { struct R r; r.n = argc; char c; r.fd = open(argv[1], O_RDONLY); r = (struct R){5, 3}; r.n++; while (read(r.fd, &c, 1) == 1) r.n++; printf(\"%ld\", r.n); return 0; }"),
    _main("a macro runs a child", before="#define NOTE() system(\"date >> x\")\n", beginning=_ONE.replace("s += c;", "{ s += c; NOTE(); }")),
    _main("a macro writes", before="#define NOTE(c) fputc(c, out)\n", beginning="FILE *out = fopen(\"y\", \"w\"); " + _ONE.replace("s += c;", "{ s += c; NOTE(c); }")),
    _main("another function is called by a pointer", "(*give)(fd); printf(\"%ld\", s);", "static void (*give)(int);"),
    _miss("nobody opens it", "long f(int fd) { char c; long s = 0; while (read(fd, &c, 1) == 1) s++; return s; }\nint main(void) { return 0; }"),
    _miss("written by a function that the loop calls", "static void put(const char *path, int c) { FILE *f = fopen(path, \"a\"); fputc(c, f); fclose(f); }\nint main(int argc, char **argv) { int fd = open(argv[1], O_RDONLY); char c; long s = 0; while (read(fd, &c, 1) == 1) { s++; if (s < 9) put(argv[argc - 1], c); } printf(\"%ld\", s); return 0; }"),
    _miss("written when the program ends, by a function that was told before", "static const char *path; static int fd; static void put(void) { char c; FILE *f = fopen(path, \"w\"); fputc('a', f); fclose(f); read(fd, &c, 1); printf(\"%d\", c); }\nint main(int argc, char **argv) { char c; long s = argc; path = argv[1]; atexit(put); fd = open(argv[1], O_RDONLY); while (read(fd, &c, 1) == 1) s++; printf(\"%ld\", s); return 0; }"),
    miss_cpp("a stream of C++ writes", "read-in-blocks", _HEAD + "#include <fstream>\nint main(int argc, char **argv) { std::ofstream out(argv[argc - 1], std::ios::app); int fd = open(argv[1], O_RDONLY); char c; long s = 0; while (read(fd, &c, 1) == 1) { s++; out << c; } std::printf(\"%ld\", s); }"),
    miss_cpp("a member writes when nobody calls it", "read-in-blocks", _HEAD + "struct Log { FILE *f; ~Log() { fputc('x', f); fclose(f); } };\nint main(int argc, char **argv) { int fd = open(argv[1], O_RDONLY); char c; long s = 0; while (read(fd, &c, 1) == 1) { s++; Log log; log.f = fopen(argv[argc - 1], \"a\"); } std::printf(\"%ld\", s); }"),
    miss_cpp("opened before main", "read-in-blocks", _HEAD + "static const char *name = \"x\";\nstatic FILE *out = fopen(name, \"a\");\nint main(int argc, char **argv) { int fd = open(argv[argc - 1], O_RDONLY); char c; long s = 0; while (read(fd, &c, 1) == 1) { s++; fputc(c, out); } std::printf(\"%ld\", s); }"),
    miss_cpp("another file unless something else is said", "read-in-blocks", _HEAD + "struct In { int fd = open(\"y\", O_RDWR); };\nint main(int argc, char **argv) { In in; if (argc > 1) in.fd = open(argv[1], O_RDONLY); char c; long s = 0; while (read(in.fd, &c, 1) == 1) s++; std::printf(\"%ld\", s); }"),
    miss_cpp("the member is given its value before the constructor begins", "read-in-blocks", _HEAD + "struct In { int fd; In(int how) : fd(how) {} };\nint main(int argc, char **argv) { In in(argc + 4); if (argc > 1) in.fd = open(argv[1], O_RDONLY); char c; long s = 0; while (read(in.fd, &c, 1) == 1) s++; std::printf(\"%ld\", s); }"),
    miss_cpp("records in a vector begin with a list", "read-in-blocks", _HEAD + "struct In { int fd; long n; };\nint main(int argc, char **argv) { std::vector<In> all{{7, 0}, {8, 0}}; if (argc > 1) all[0].fd = open(argv[1], O_RDONLY); In &in = all[0]; char c; while (read(in.fd, &c, 1) == 1) in.n++; std::printf(\"%ld\", in.n); }"),
    miss_cpp("a list is handed over", "read-in-blocks", _HEAD + "struct In { int fd; long n; };\nstatic long all(In in) { char c; while (read(in.fd, &c, 1) == 1) in.n++; return in.n; }\nint main(int argc, char **argv) { In in; in.fd = open(argv[argc - 1], O_RDONLY); in.n = 0; long s = all({7, 0}) + all(in); std::printf(\"%ld\", s); }"),
    miss_cpp("a list is assigned", "read-in-blocks", _HEAD + "struct In { int fd; long n; };\nint main(int argc, char **argv) { In in; in.fd = open(argv[1], O_RDONLY); in.n = 0; if (argc > 2) in = {7, 0}; char c; while (read(in.fd, &c, 1) == 1) in.n++; std::printf(\"%ld\", in.n); }"),
)  # fmt: skip
