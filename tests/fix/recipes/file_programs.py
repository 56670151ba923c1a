# ruff: noqa: E501
"""Programs that open a file for each record or question, and such in which it must be opened each time."""

from __future__ import annotations

from tests.fix.recipes.cases import Case, c
from tests.fix.recipes.cases import cpp as plain_cpp
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss
from tests.fix.recipes.misses import cpp as miss_cpp

_NAME = "open-once"


def cpp(name: str, body: str, *has: str) -> Case:
    """A case in C++."""
    return plain_cpp(name, _NAME, body, *has)


_LOG = 'static void note(int i) { FILE *f = fopen("notes", "a"); if (!f) return; fprintf(f, "%d ", i); NOTED fclose(f); }\n'
_ASK = 'static int ask(int i) { int k = -1; FILE *f = fopen("notes", "r"); if (f == NULL) return -1; fseek(f, i, SEEK_SET); k = fgetc(f); fclose(f); return k; }\n'
_MAIN = 'int main(void) { int s = 0; FIRST for (int i = 0; i < 9; i++) { EACH } printf("%d", s); LAST return 0; }'


def _log(each: str, *, first: str = "", last: str = "", noted: str = "", more: str = "") -> str:
    made = _MAIN.replace("EACH", each).replace("FIRST", first).replace("LAST", last)
    return more + _LOG.replace("NOTED", noted) + _ASK + made


_STORE = "static void note(int i) { std::ofstream out(NAME + std::to_string(i % 3), std::ios::app); out << i; MORE }\nint main() { DO for (int i = 0; i < 9; i++) { note(i); EACH } }"


FILES = (
    c("the plain log of the near misses", _NAME, _log("note(i);", first='remove("notes");', last='printf(" %d", ask(3)); remove("notes");'), "close_note_file();", "static FILE *note_file;"),
    c("the plain questions of the near misses", _NAME, _log("s += ask(i);", first='note(123456789); note(9);', last='remove("notes");'), "(rewind(ask_file), ask_file)"),
    c(
        "records that are read now and then", _NAME,
        """
#define JOURNAL "journal.tmp"
struct order { int customer; double price; };
static int enter(struct order o)
{
    FILE *journal;
    journal = fopen(JOURNAL, "ab");
    if (journal == NULL)
        return -1;
    fwrite(&o, sizeof o, 1, journal);
    fclose(journal);
    return 0;
}
static double sum(void)
{
    struct order o;
    double s = 0.0;
    FILE *in = fopen(JOURNAL, "rb");
    if (in == NULL)
        return -1.0;
    while (fread(&o, sizeof o, 1, in) == 1) s += o.price * o.customer;
    fclose(in);
    return s;
}
int main(void)
{
    remove(JOURNAL);
    for (int i = 0; i < 40; i++) {
        struct order o;
        memset(&o, 0, sizeof o);
        o.customer = i % 7;
        o.price = 0.25 * i;
        if (enter(o) != 0) return 1;
        if (i % 9 == 8) printf("%g ", sum());
        if (i == 30) remove(JOURNAL);
    }
    printf("%g\\n", sum());
    remove(JOURNAL);
    return 0;
}
""", "static void close_enter_file(void)", has_not=("fclose(journal);\n    return 0;",),
    ),
    c(
        "files of several names, asked about and written", _NAME,
        """
struct shelf { char path[32]; int books; };
static void put(struct shelf *s, const char *title)
{
    FILE *out = fopen(s->path, "a");
    if (out) {
        fprintf(out, "%s;", title);
        fclose(out);
    }
    s->books++;
}
static int letter(const struct shelf *s, long at)
{
    FILE *in;
    int k;
    if ((in = fopen(s->path, "r")) == NULL)
        return '?';
    fseek(in, at, SEEK_SET);
    k = fgetc(in);
    fclose(in);
    return k;
}
int main(void)
{
    static struct shelf all[70];
    for (int k = 0; k < 70; k++) sprintf(all[k].path, "shelf%d.tmp", k);
    for (int k = 0; k < 70; k++) remove(all[k].path);
    for (int i = 0; i < 300; i++) put(&all[i * 7 % 70], i % 3 ? "Emma" : "Ulysses");
    for (int k = 0; k < 70; k++)
        for (int at = 0; at < 12; at += 5) printf("%c", letter(&all[k], at));
    for (int k = 0; k < 70; k++) remove(all[k].path);
    printf(" %c\\n", letter(all, 0));
    return 0;
}
""", "FILE *out = put_file(s->path, \"a\");", "rewind(", "close_put_files();", "close_letter_files();",
    ),
    cpp(
        "a file for each name",
        """
#include <iomanip>
class Store {
 public:
  explicit Store(int rooms) {
    for (int r = 0; r < rooms; r++) {
      names_.push_back("room" + std::to_string(r) + ".tmp");
      std::ofstream(names_.back(), std::ios::trunc);
    }
  }
  ~Store() { for (const auto &each : names_) std::remove(each.c_str()); }
  void note(int room, int hour, double heat) {
    std::ofstream out(names_[room], std::ios::app);
    if (!out) return;
    out << hour << ' ' << heat << ' ' << std::hex << hour << std::fixed << std::setprecision(2) << ' ' << heat << '\\n';
  }
  std::string all(int room) const {
    std::ifstream in(names_[room]);
    std::string line, found;
    while (std::getline(in, line)) found += line + ";";
    return found;
  }
 private:
  std::vector<std::string> names_;
};
int main() {
  for (int rooms : {3, 70}) {
    Store store(rooms);
    for (int h = 8; h < 21; h++)
      for (int r = 0; r < rooms; r++) {
        store.note(r, h, 15.0 + 0.125 * h + r);
        if (h == 12) std::cout << store.all(r) << '\\n';
      }
    for (int r = 0; r < rooms; r++) std::cout << store.all(r) << '\\n';
  }
}
""", "std::ofstream &out = note_file(names_[room]);", "file.copyfmt(std::ios(nullptr));", "note_files.clear();",
    ),
    cpp(
        "opened later, and closed",
        """
static const char *const kFile = "visits.tmp";
static void visit(const std::string &who, bool again) {
  std::ofstream book;
  const std::string line = again ? who + " again" : who;
  book.open(kFile, std::ios::out | std::ios::app);
  if (!book.is_open()) return;
  book << line << '\\n';
  book.close();
}
int main() {
  for (int k = 0; k < 20; k++) visit(k % 3 ? "Ada" : "Grace", k > 9);
  std::ifstream in(kFile);
  std::string word;
  while (in >> word) std::cout << word << ' ';
  std::remove(kFile);
}
""", "std::ofstream &book = visit_file(kFile);", "visit_files.clear();",
    ),
    cpp(
        "a part of a file for each question",
        """
struct Table {
  std::string file;
  Table(std::string name, int n, int step) : file(name) {
    std::ofstream out(file);
    for (int k = 0; k < n; k++) out << k * step << '\\n';
  }
  int row(int at) const {
    std::ifstream in(file);
    int value = -1;
    for (int k = 0; k <= at; k++)
      if (!(in >> value)) return -2;
    return value;
  }
};
static long sum(const Table &t, int n) { long s = 0; for (int k = 0; k < n; k++) s = s * 3 % 1000003 + t.row(k); return s; }
int main() {
  Table a("a.tmp", 30, 2), b("b.tmp", 20, 5);
  std::cout << sum(a, 32) << ' ' << sum(b, 20) << ' ' << a.row(7) << ' ' << b.row(3);
  std::remove("a.tmp");
  std::cout << ' ' << a.row(2);
  Table c("a.tmp", 9, 7);
  std::cout << ' ' << a.row(2) << ' ' << sum(c, 10) << '\\n';
}
""", "std::ifstream &in = row_file(file);", "row_input.close();",
    ),
    cpp("the plain store of the near misses", _STORE.replace("NAME", 'std::string("x")').replace("MORE", "").replace("DO", "").replace("EACH", 'std::cout << i; std::remove("x1");'), "note_files.clear();"),
    Case(
        "numbers in another base", _NAME, "c++",
        """
#include <fstream>
static void record(int i) {
  std::ofstream out("/dev/stdout", std::ios::app);
  out << i << ' ' << std::hex << i << '\\n';
}
int main() {
  for (int i = 8; i < 20; i++) record(i);
}
""", ("static std::ofstream out(", "out.copyfmt(std::ios(nullptr));"), cause="io-small-requests",
    ),
)  # fmt: skip


def _store(
    why: str, *, name: str = 'std::string("x")', more: str = "", first: str = "", each: str = "", head: str = ""
) -> Miss:
    body = _STORE.replace("NAME", name).replace("MORE", more).replace("DO", first).replace("EACH", each)
    return miss_cpp(why, _NAME, "#include <fstream>\n" + head + body)


FILE_MISSES = (
    miss("it is read while a record is written", _NAME, _log("note(i);", noted="s += ask(i);", more="static int s; static int ask(int);\n")),
    miss("a reader goes on where it was", _NAME, _log("note(i); s += fgetc(g);", first='FILE *g = fopen("notes", "r");', last="fclose(g);")),
    miss("a reader that is never closed", _NAME, _log("note(i);", last='FILE *g = fopen("notes", "r"); s = fgetc(g);')),
    miss("a reader of descriptors", _NAME, _log("note(i);", more="#include <fcntl.h>\n#include <unistd.h>\n", last='char k; int d = open("notes", O_RDONLY); if (read(d, &k, 1)) s = k;')),
    miss("its place is asked for", _NAME, _log("note(i);", noted='printf("%ld", ftell(f));')),
    miss("it gets a buffer of its own", _NAME, _log("note(i);", noted="setvbuf(f, NULL, _IONBF, 0);")),
    miss("the folder changes", _NAME, _log("note(i); chdir(i % 2 ? \"/tmp\" : \"/\");", more="#include <unistd.h>\n")),
    miss("another process looks", _NAME, _log("note(i); system(\"cat notes\");")),
    miss("the file is written while it is read", _NAME, "static int ask(void) { FILE *f = fopen(\"notes\", \"r\"); int k = fgetc(f); fclose(f); return k; }\nint main(void) { FILE *g = fopen(\"notes\", \"w\"); for (int i = 0; i < 9; i++) { fputc('a' + i, g); fflush(g); rewind(g); printf(\"%d\", ask()); } fclose(g); return 0; }"),
    miss("closed only sometimes", _NAME, "static void note(const char *p, int i) { FILE *f = fopen(p, \"a\"); if (i > 3) { fprintf(f, \"%d\", i); fclose(f); } }\nint main(int n, char **v) { for (int i = 0; i < n; i++) note(v[i], i); return 0; }"),
    miss("a file of the system", _NAME, _log("s += ask(i);").replace('\\"notes\\"', '"/proc/self/stat"').replace('"notes"', '"/proc/self/stat"')),
    miss("processes write the same file", _NAME, _log("note(i);", first="MPI_Init(0, 0);", more="int MPI_Init(int *, char ***);\n")),
    miss("the questions are about any file", _NAME, "static int ask(const char *p) { FILE *f = fopen(p, \"r\"); int k = f ? fgetc(f) : -1; if (f) fclose(f); return k; }\nint main(int n, char **v) { for (int i = 0; i < n; i++) printf(\"%d\", ask(v[i])); return 0; }"),
    _store("the stream is moved out", more="last = std::move(out);", head="static std::ofstream last;\n"),
    _store("its address is kept", more="last = &out;", head="static std::ostream *last;\n"),
    _store("another stream of the class", head="struct Log { std::ofstream out; Log() : out(\"x1\") {} } log_;\n", each="log_.out << i;"),
    _store("a reader in the same loop stays open", first="std::ifstream in(\"x1\"); char k;", each="if (in >> k) std::cout << k; in.clear();"),
    miss_cpp("opened twice", _NAME, "#include <fstream>\nstatic void note(int i) { std::ofstream out; out.open(\"x\", std::ios::app); out << i; out.close(); out.open(\"y\", std::ios::app); out << i; out.close(); }\nint main() { for (int i = 0; i < 9; i++) note(i); }"),
    miss_cpp("opened where it may be open", _NAME, "#include <fstream>\nstatic void note(int i) { std::ofstream out; if (i % 2) out.open(\"y\"); out.open(\"x\", std::ios::app); out << i; }\nint main() { for (int i = 0; i < 9; i++) note(i); }"),
    _store("a reader is handed out and goes on", head="static std::ifstream opened() { std::ifstream in(\"x1\"); return in; }\n", first="auto in = opened(); char k;", each="if (in >> k) std::cout << k; in.clear();"),
    _store("threads", head="#include <thread>\n"),
)  # fmt: skip
