# ruff: noqa: E501
"""Programs of C that search an array for a key again and again, and such in which the search must stay as it is."""

from __future__ import annotations

from tests.fix.recipes.cases import c
from tests.fix.recipes.misses import Miss
from tests.fix.recipes.misses import c as miss

_NAME = "index-searched-array"

_HEAD = "static long ids[900];\nstatic int count;\n"
_FIND = "static int find(long id) { for (int i = 0; i < count; i++) if (ids[i] == id) return i; return -1; }\n"
_MAIN = 'int main(void) { for (long k = 0; k < 900; k++) { if (find(k % 70) < 0) ids[count++] = k % 70; DO } printf("%d", count); return 0; }'
_ITEMS = "struct item { long id; int uses; };\nstruct list { struct item *items; int count; };\nstatic int find(struct list *l, long id) { for (int i = 0; i < l->count; i++) if (l->items[i].id == id) return i; return -1; }\n"
_ADD = "static void add(struct list *l, long id) { if (find(l, id) < 0) { l->items[l->count].id = id; l->items[l->count].uses = 0; l->count++; } }\n"
_LIST = 'int main(void) { BEGIN l.items = calloc(900, sizeof(struct item)); for (long k = 0; k < 900; k++) { add(&l, k % 70); DO } printf("%d", l.count); return 0; }'
_EMPTY = "struct list l = {0};"

SEARCHED = (
    c("the plain array of the near misses", _NAME, _HEAD + _FIND + _MAIN.replace("DO", "")),
    c("the plain list of the near misses", _NAME, _ITEMS + _ADD + _LIST.replace("BEGIN", _EMPTY).replace("DO", "l.items[k % l.count].uses++;")),
    c(
        "records of the file, their keys first written through a pointer", _NAME,
        """
struct item { long id; int uses; };
static struct item items[4000];
static int count;
static int find(long id) { for (int i = 0; i < count; i++) if (items[i].id == id) return i; return -1; }
static void use(long id)
{
    int at = find(id);
    if (at < 0) {
        struct item *last = items + count;
        last->uses = 0;
        last->id = id;
        at = count++;
    }
    struct item *one = &items[at];
    one->uses++;
}
static int uses(const struct item *items, int count) { int s = 0; for (int i = 0; i < count; i++) s += items[i].uses % 7 * i; return s; }
int main(void)
{
    for (long k = 0; k < 30000; k++) use(k * k % 3571 - 900);
    printf("%d %d\\n", uses(items, count), count);
    return 0;
}
""", "for (int i = find_place(id); i < count; i++)",
    ),
    c(
        "members of one record, handed over", _NAME,
        """
struct list { int size, room; unsigned long *ids; };
static struct list list;
static int is_in(const unsigned long ids[], int n, unsigned id)
{
    for (int i = 0; i != n; i += 1) if (ids[i] == id) return 1;
    return 0;
}
int main(void)
{
    unsigned s = 0;
    for (unsigned k = 0; k < 30000; k++) {
        unsigned id = k * 2654435761u % 4001;
        if (is_in(list.ids, list.size, id)) { s += id; continue; }
        if (list.size == list.room) list.ids = realloc(list.ids, (list.room = list.room * 2 + 1) * sizeof *list.ids);
        list.ids[list.size] = id;
        list.size = list.size + 1;
    }
    printf("%u %d\\n", s, list.size);
    return 0;
}
""", "int i = is_in_place(ids, n, id)",
    ),
    c(
        "several sets, in whatever order they are used, cleared, and made", _NAME,
        """
typedef struct set { long *keys; int count, room; } Set;
static Set first;
static Set *made(void)
{
    Set *s = malloc(sizeof *s);
    s->keys = NULL;
    s->count = s->room = 0;
    s->count = 0;
    return s;
}
static int place(const Set *s, long key)
{
    for (int i = 0; i < s->count; i++) {
        if (s->keys[i] == key)
            return i;
    }
    return -1;
}
static void append(Set *s, long key)
{
    if (s->count == s->room) s->keys = realloc(s->keys, (s->room = 2 * s->room + 1) * sizeof(long));
    s->keys[s->count++] = key;
}
static void drop(Set *s)
{
    free(s->keys);
    free(s);
}
int main(void)
{
    unsigned state = 7;
    long sum = 0;
    Set *sets[3] = {&first, NULL, NULL};
    sets[1] = made();
    sets[2] = made();
    for (int step = 0; step < 60000; step++) {
        state = state * 1664525u + 1013904223u;
        Set *s = sets[state / 4096u % 997u % 3u];
        long key = (long)(state >> 16) % 300 - 150;
        switch (state >> 8 & 15u) {
        case 0: if (key > 140) s->count = 0; break;
        case 1: for (int k = 0; k < 30 && s->count < 2000; k++) append(s, key + k); break;
        case 2: if (key < -140) { drop(sets[2]); sets[2] = made(); append(sets[2], key); } break;
        default: if (place(s, key) < 0) append(s, key); else sum = (sum * 31 + place(s, key)) % 1000003; break;
        }
        if (step % 3000 == 0) {
            Set passing = {0};
            for (int k = 0; k < 40; k++) append(&passing, k * (step + 1) % 37);
            for (int k = 0; k < 40; k++) sum += place(&passing, k) * k;
            free(passing.keys);
            printf("%ld %d %d %d\\n", sum, first.count, sets[1]->count, sets[2]->count);
        }
    }
    return 0;
}
""", "if (place_owner != (const void *)s) {",
    ),
    c(
        "a list that is cleared as a whole", _NAME,
        """
struct list;
struct list { int count; long ids[700]; struct { int a, b; } span; };
static int find(const struct list *l, long id) { int i = 0; /* the first */ while (i < l->count && l->ids[i] != id) ++i; return i; }
int main(void)
{
    struct list l = {0, {0}, {0, 0}};
    long s = 0;
    for (int k = 0; k < 20000; k++) {
        long id = (long)k * k % 691;
        if (k % 4999 == 4998) { memset(&l, 0, sizeof l); for (int r = 0; r < 500; r++) l.ids[l.count++] = r * 2; }
        int at = find(&l, id);
        if (at == l.count && at < 700) l.ids[l.count++] = id;
        s += at;
    }
    printf("%ld %d\\n", s, l.count);
    return 0;
}
""", "find_known = 0, memset(&l, 0, sizeof l);", "int i = find_place(l, id); /* the first */",
    ),
    c(
        "identifiers of the file, cleared in another function", _NAME,
        """
static long ids[9000];
static int count;

static void clear(void) { count = 0; }

/* Where an id is. */
static int find(long id)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id) return i;
    return -1;
}

static int add(long id)
{
    int at = find(id);
    if (at < 0) {
        at = count;
        ids[count++] = id;
    }
    return at;
}

int main(void)
{
    long s = 0;
    for (int r = 0; r < 4; r++) {
        for (long k = 0; k < 20000; k++) s += add((k * 7919 % 5003 - 2000) * (r + 1)) * (k % 5);
        printf("%ld %d %d\\n", s, count, find(-3));
        clear();
        printf("%d\\n", find(0));
        for (long k = 0; k < 7000 * (r % 2); k++) ids[count++] = k / 2;
        printf("%d %d\\n", find(100), find(3400));
        clear();
    }
    return 0;
}
""", "for (int i = find_place(id); i < count; i++)", "count = find_known = 0;", "static size_t find_known;",
        has_not=("i = 0",),
    ),
    c(
        "a registry by its address, which grows", _NAME,
        """
typedef unsigned int Key;
typedef struct { Key key; double sum; char name[12]; } Entry;
typedef struct { Entry *items; size_t count, room; } Registry;

static Entry *entry(Registry *r, Key key)
{
    size_t i;
    for (i = 0; i < r->count; i++) {
        if (key == r->items[i].key) {
            break;
        }
    }
    if (i == r->count) {
        if (r->count == r->room) {
            r->room = r->room ? 2 * r->room : 4;
            r->items = (Entry *)realloc(r->items, r->room * sizeof(Entry));
            if (!r->items) exit(1);
        }
        Entry *one = &r->items[r->count++];
        one->key = key;
        one->sum = 0;
        snprintf(one->name, sizeof one->name, "n%u", key % 1000);
    }
    return &r->items[i];
}

int main(void)
{
    Registry *heap = calloc(1, sizeof *heap);
    for (int round = 0; round < 3; round++) {
        Registry one = {0}, other = {NULL, 0, 0};
        for (unsigned k = 0; k < 9000; k++) {
            entry(&one, k * 4000000007u % 3001)->sum += k;
            if (k % 500 == 0) entry(&other, k + round)->sum += 1;
            entry(heap, k * (round + 1))->sum += 0.5;
        }
        double s = 0;
        for (size_t k = 0; k < one.count; k++) s += one.items[k].sum * (double)(k % 7) + one.items[k].name[1];
        for (size_t k = 0; k < other.count; k++) s += other.items[k].sum * (double)other.items[k].key;
        printf("%.17g %zu %zu %zu\\n", s, one.count, other.count, heap->count);
        free(one.items);
        free(other.items);
        if (round == 1) {
            free(heap->items);
            free(heap);
            heap = (Registry *)calloc(1, sizeof(Registry));
        }
    }
    return 0;
}
""", "entry_owner != (const void *)r", "heap = (entry_known = 0, calloc(1, sizeof *heap));", "Registry one = {0}, other = {NULL, 0, 0}; entry_known = 0;",
    ),
    c(
        "handed over with its length", _NAME,
        """
static short codes[4000];
static unsigned used;

static int known(const short *list, unsigned n, short code)
{
    for (unsigned k = 0; k < n; ++k) {
        if (list[k] == code) {
            return 1;
        }
    }
    return 0;
}

int main(void)
{
    int twice = 0;
    for (int i = 0; i < 30000; i++) {
        short code = (short)(i * 37 % 4001 - 2000);
        if (i % 3 == 0 && known(codes, used, code)) { twice++; continue; }
        if (!known(codes, used, code) && used < 4000) { codes[used] = code; used += 1; }
    }
    printf("%d %u %d\\n", twice, used, known(codes, used, -2000));
    return 0;
}
""", "unsigned k = known_place(list, n, code)", "known_slot(const short *list, unsigned n, long long key)",
    ),
    c(
        "the append stands behind the loop, with a counted while", _NAME,
        """
struct word { const char *text; int length, times; };
static struct { int unused; } nothing;
static const char *texts[3000];
static int times[3000];
static int words;

static void count_word(const char *text)
{
    int at = 0;
    while (at < words && texts[at] != text) at++;
    if (at == words) {
        texts[words] = text;
        times[words] = 0;
        ++words;
    }
    times[at]++;
}

int main(void)
{
    static char all[5000];
    long s = nothing.unused;
    for (int i = 0; i < 40000; i++) count_word(&all[(long)i * i % 2999]);
    for (int i = 0; i < words; i++) s += times[i] * (long)(i % 11) + (texts[i] - all);
    printf("%ld %d\\n", s, words);
    return 0;
}
""", "int at = count_word_place(text);", "(size_t)key",
    ),
    c(
        "a set in the file, found by a flag", _NAME,
        """
enum kind { RED = -7, GREEN, BLUE };
struct pair { unsigned char tag; unsigned long long code; int uses; };
struct table { struct pair pairs[6000]; int length; };
static struct table set;

static void use(const struct pair *wanted)
{
    int i, found = 0;
    for (i = 0; i < set.length; i++)
        if (set.pairs[i].code == wanted->code && set.pairs[i].tag < 200) {
            set.pairs[i].uses++;
            found = 1;
            break;
        }
    if (!found) {
        struct pair fresh = *wanted;
        fresh.uses = GREEN;
        set.pairs[set.length++] = fresh;
    }
}

int main(void)
{
    long s = 0;
    for (int i = 0; i < 30000; i++) {
        struct pair p;
        memset(&p, 0, sizeof p);
        p.code = (unsigned long long)(i * 31L % 2503) * 0x9000000000001ull;
        p.tag = (unsigned char)(i % 251);
        use(&p);
        if (i % 9001 == 9000) {
            for (int k = 0; k < set.length; k++) s += set.pairs[k].uses * (long)(k % 13);
            set.length = 0;
        }
    }
    printf("%ld %d\\n", s, set.length);
    return 0;
}
""", "for (i = set.length ? use_place(wanted->code) : 0; i < set.length; i++)", "set.length = use_known = 0;",
    ),
    c(
        "in a loop of main, memory that is made again", _NAME,
        """
typedef enum { NONE, SOME, MANY } Amount;
typedef int Node;
static Node *seen;
static int n_seen, room;

int main(void)
{
    long s = 0;
    for (int round = 0; round < 3; round++) {
        room = 8;
        seen = malloc(room * sizeof *seen);
        n_seen = 0;
        for (int i = 0; i < 12000; i++) {
            Node node = (Node)((long)i * (i + round) % 7919) - 4000;
            int k = 0;
            while (k < n_seen) {
                if (seen[k] == node) break;
                k++;
            }
            if (k < n_seen) { s += k; continue; }
            if (n_seen == room) {
                int *more = realloc(seen, 2 * room * sizeof *seen);
                if (!more) return 1;
                seen = more;
                room *= 2;
            }
            seen[n_seen] = node;
            n_seen++;
        }
        printf("%ld %d %d\\n", s, n_seen, seen[n_seen - 1]);
        free(seen);
    }
    return 0;
}
""", "int k = main_place(node);", "seen = (main_known = 0, malloc(room * sizeof *seen));",
    ),
    c(
        "kinds, each once, and an empty loop", _NAME,
        """
enum shade { DARK = -3, LIGHT, PALE = 4000 };
static enum shade shades[9000];
static size_t n;

static size_t place(enum shade one)
{
    size_t i;
    for (i = 0; i < n && shades[i] != one; i++)
        ;
    return i;
}

int main(void)
{
    size_t s = 0;
    for (int i = 0; i < 20000; i++) {
        enum shade one = (enum shade)(i * 17 % 4099 - 30);
        size_t at = place(one);
        if (at == n) shades[n++] = one;
        s += at;
    }
    printf("%zu %zu\\n", s, n);
    return 0;
}
""", "for (i = place_place(one); i < n && shades[i] != one; i++)",
    ),
)  # fmt: skip


def _of(why: str, statement: str, before: str = "", head: str = _HEAD, find: str = _FIND) -> Miss:
    """The plain program with one more statement in its loop, or another beginning."""
    return miss(why, _NAME, head + before + find + _MAIN.replace("DO", statement))


def _list(why: str, statement: str, before: str = "", begin: str = _EMPTY) -> Miss:
    """The same with a list of records."""
    return miss(why, _NAME, _ITEMS + _ADD + before + _LIST.replace("BEGIN", begin).replace("DO", statement))


SEARCH_MISSES = (
    # -- keys change
    _of("an item is written anew", "if (k == 80) ids[3] = 1000;"),
    _of("an item is counted up", "ids[k % 3]++;"),
    _of("an item in front is written", "if (count > 5) ids[count - 1] = k;"),
    _of("items are taken away", "if (k == 80) count--;"),
    _of("some items are kept", "if (k == 80) count = 5;"),
    _of("the number of items is halved", "if (k == 80) count /= 2;"),
    _of("sorted", "if (k == 80) qsort(ids, count, sizeof *ids, order);", "int order(const void *, const void *);\n"),
    _of("moved up", "if (k == 80) memmove(ids + 1, ids, sizeof(long));"),
    _of("an item's address", "if (k == 80) scanf(\"%ld\", &ids[2]);"),
    _of("the address of the count", "if (k == 80) scanf(\"%d\", &count);"),
    _of("a function writes through a pointer", "if (k == 80) turn(ids);", "static void turn(long *p) { p[0] = -p[0]; }\n"),
    _of("another name for the array", "if (k == 80) other[0] = 9;", "static long *other = ids;\n"),
    _of("a pointer of a function", "long *p = ids; if (k == 80) *p = 9;"),
    _of("through the name itself", "if (k == 80) *ids = 9;"),
    _of("in brackets", "if (k == 80) (ids)[1] = 9;"),
    _of("a macro writes", "if (k == 80) FIRST = 9;", "#define FIRST ids[0]\n"),
    _of("a macro clears", "if (k == 80) CLEAR;", "#define CLEAR (count -= 3)\n"),
    _of("the memory is another array's", "if (k == 80) ids = spare;", head="static long spare[900], first[900];\nstatic long *ids;\nstatic int count;\n"),
    _of("written in another function before the end", "change(k);", "static void change(long k) { int i; for (i = 0; i < count; i++) if (k == 80) ids[i] = i; }\n"),
    _of("the search runs while an item is half there", "if (k == 80) ids[count++] = again(k);", "static int find(long id);\nstatic long again(long k) { return find(k) + 200; }\n"),
    _list("an item's key is written", "if (k == 80) l.items[2].id = 1000;"),
    _list("a key is written through a pointer", "struct item *p = &l.items[2]; if (k == 80) p->id = 1000;"),
    _list("a key is written through what another function gives", "if (k == 80) pick(&l)->id = 1000;", "static struct item *pick(struct list *l) { return &l->items[1]; }\n"),
    _list("items change places", "if (k == 80) { struct item t = l.items[0]; l.items[0] = l.items[1]; l.items[1] = t; }"),
    _list("an item is copied through a pointer", "if (k == 80) { struct item *p = l.items, *q = l.items + 1; *p = *q; }"),
    _list("items are moved", "if (k == 80) memmove(l.items, l.items + 1, sizeof(struct item));"),
    _list("an item is seen as bytes", "if (k == 80) { char *p = (char *)l.items; p[0] = 9; }"),
    _list("an item becomes a pointer to anything", "if (k == 80) { void *p = l.items; memset(p, 0, 16); }"),
    _list("the record is copied", "if (k == 80) m = l;", begin="struct list l = {0}, m;"),
    _list("the record is cleared as bytes", "if (k == 80) { void *p = &l; memset(p, 0, sizeof l); l.items = calloc(900, sizeof(struct item)); }"),
    _list("a pointer to the number of items", "int *p = &l.count; if (k == 80) *p = 3;"),
    _list("the record is handed over by value", "if (k == 80) printf(\"%d\", total(l));", "static int total(struct list l) { return l.count; }\n"),
    _list("other records hold it", "if (k == 80) w.l.count = 0;", "struct world { struct list l; };\nstatic struct world w;\n"),
    _list("begins with items", "", begin="struct list l = {0}; for (int r = 0; r < 2; r++) { struct list m = {l.items, 4}; find(&m, 3); }"),
    _list("made by a function that gives what calloc gives", "", "static struct list *make(void) { return calloc(1, sizeof(struct list)); }\nstatic void again(void) { struct list *l = make(); l->items = calloc(9, sizeof(struct item)); add(l, 3); free(l->items); free(l); }\n"),
    _list("handed over as it is allocated", "", "static void again(struct list *l) { l->items = calloc(9, sizeof(struct item)); add(l, 3); free(l->items); free(l); }\nstatic void more(void) { again(calloc(1, sizeof(struct list))); }\n"),
    _list("one of two pointers is handed on", "if (k == 80) memmove(k > 3 ? l.items : l.items + 2, l.items + 1, 16);"),
    _list("a function gives the items as anything", "if (k == 80) memset(raw(&l), 1, 16);", "static void *raw(struct list *l) { return l->items; }\n"),
    _list("memory of somebody else", "if (k == 80) l.items = pool;", "static struct item pool[900];\n"),
    _of("a function of the program searches between", "if (k == 80) ids[count++] = find(3);"),
    miss("a parameter has the name of the array", _NAME, "struct item { long id; int uses; };\nstatic struct item items[900];\nstatic int count;\nstatic int find(long id) { for (int i = 0; i < count; i++) if (items[i].id == id) return i; return -1; }\nstatic void turn(struct item *items) { items[2].id = 5; }\nint main(void) { for (long k = 0; k < 900; k++) { if (find(k % 70) < 0) { items[count].id = k % 70; count++; } if (k == 80) turn(items); } return count; }"),
    miss("a record of another type has a member of the array's name", _NAME, "struct item { long id; int uses; };\nstatic struct item items[900];\nstruct view { struct item *items; };\nstatic int count;\nstatic int find(long id) { for (int i = 0; i < count; i++) if (items[i].id == id) return i; return -1; }\nint main(void) { struct view v = {items}; for (long k = 0; k < 900; k++) { if (find(k % 70) < 0) { items[count].id = k % 70; count++; } if (k == 80) v.items[2].id = 5; } return count; }"),
    miss("a local number has the name of the count", _NAME, "struct item { long id; int uses; };\nstatic struct item items[900];\nstatic int count;\nstatic int find(long id) { for (int i = 0; i < count; i++) if (items[i].id == id) return i; return -1; }\nstatic void turn(void) { int count = 2; struct item *p = &items[count]; p->id = 5; }\nint main(void) { for (long k = 0; k < 900; k++) { if (find(k % 70) < 0) { items[count].id = k % 70; count++; } if (k == 80) turn(); } return count; }"),
    miss("handed over from two records", _NAME, "struct list { long *ids; int count; };\nstatic struct list a, b;\nstatic int find(const long *v, int n, long id) { for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) { a.ids = realloc(a.ids, (a.count + 1) * sizeof(long)); if (find(a.ids, a.count, k % 7) < 0) a.ids[a.count++] = k % 7; b.ids = realloc(b.ids, (b.count + 1) * sizeof(long)); if (find(b.ids, b.count, k % 7) < 0) b.ids[b.count++] = k % 7; } return a.count; }"),
    _of("begins as another array", "if (k == 80) first[0] = 9;", head="static long first[900];\nstatic long *ids = first;\nstatic int count;\n"),
    _of("begins with a negative number of items", "", head="static long ids[900];\nstatic int count = -3;\n"),
    _of("moves along", "if (k == 80) { ids += 1; count = 0; }", head="static long first[900];\nstatic long *ids;\nstatic int count;\n"),
    _of("an inner block has the name for something else", "{ long ids[2] = {k, 1}; if (k == 80) ids[0] = 7; } if (k == 80) ids[0] = 3;"),
    _of("declared again in a function", "", "static void turn(void) { extern long ids[]; ids[0] = 9; }\n", head="long ids[900];\nint count;\n"),
    _of("a function counts an item up", "if (k == 80) turn(ids);", "static void turn(long *p) { p[0]++; }\n"),
    _of("a function hands the array on", "if (k == 80) turn(ids);", "static void turn(long *p) { qsort(p, 9, sizeof *p, 0); }\n"),
    _of("a function takes an item's address", "if (k == 80) turn(ids);", "static void turn(long *p) { scanf(\"%ld\", &p[3]); }\n"),
    _of("written through the memory's other name", "if (k == 80) { long *more = realloc(ids, 9000); more[0] = 9; ids = more; }", head="static long *ids;\nstatic int count;\n"),
    _of("memory of another array", "if (k == 80) ids = realloc(spare, 9000);", head="static long *ids, *spare;\nstatic int count;\n"),
    _of("more memory of another array", "if (k == 80) { long *more = realloc(spare, 9000); ids = more; }", head="static long *ids, *spare;\nstatic int count;\n"),
    _list("items are cleared through a pointer", "struct item *p = l.items; if (k == 80) memset(p, 1, 16);"),
    _list("a key is read into", "if (k == 80) scanf(\"%ld\", &l.items[2].id);"),
    _list("a pointer to an item is seen as bytes", "struct item *p = &l.items[1]; if (k == 80) { char *q = (char *)p; q[0] = 9; }"),
    _list("a pointer to numbers is seen as an item", "long *q = malloc(16); if (k == 80) { ((struct item *)q)->id = 3; }"),
    _list("a function takes an item for anything", "struct item *p = l.items; if (k == 80) clear(p);", "static void clear(void *p) { memset(p, 1, 16); }\n"),
    _list("a union", "if (k == 80) { union both b; b.i = l.items; b.l[0] = 9; }", "union both { struct item *i; long *l; };\n"),
    _list("an item behind the last is written once it is there", "struct item *p = &l.items[l.count]; add(&l, 1000 + k); p->id = 5;"),
    _list("an item behind the last is written in a loop", "struct item *p = &l.items[l.count]; for (int r = 0; r < 3; r++) { add(&l, 1000 + k); p->id = 5; }"),
    _list("a pointer is another one later", "struct item *p = &l.items[l.count]; if (k == 80) { p = l.items; } p->id = 5;"),
    _list("the list is seen as bytes", "if (k == 80) { struct list *p = &l; memset((char *)p + 8, 0, 4); }"),
    _list("a pointer to the list from a number", "if (k == 80) { struct list *p = (struct list *)(size_t)k; p->count = 0; }", ),
    _list("lists in an array", "if (k == 80) many[1] = many[0];", "static struct list many[3];\n"),
    _list("a list that is declared in a switch", "", "static void again(int k) { switch (k) { case 1:; struct list m = {0}; m.items = calloc(9, sizeof(struct item)); add(&m, 3); free(m.items); } }\n"),
    _list("volatile", "", "static void again(volatile struct list *m) { m->count = 0; }\n"),
    _list("memory for a list in braces", "", "static void again(void) { struct list *m[2] = {calloc(1, sizeof(struct list)), NULL}; m[0]->items = calloc(9, sizeof(struct item)); add(m[0], 3); free(m[0]->items); free(m[0]); }\n"),
    _of("as many items as another array has", "if (k == 80) count = other = 3;", "static int other;\n"),
    _list("a key's address is taken through a pointer", "struct item *p = &l.items[1]; long *q = &p->id; if (k == 80) *q = 900;"),
    _list("handed over as it is allocated, with its type", "", "static void again(struct list *l) { l->items = calloc(9, sizeof(struct item)); add(l, 3); free(l->items); free(l); }\nstatic void more(void) { again((struct list *)calloc(1, sizeof(struct list))); }\n"),
    _list("made by a function that gives what calloc gives, with its type", "", "static struct list *make(void) { return (struct list *)calloc(1, sizeof(struct list)); }\nstatic void again(void) { struct list *l = make(); l->items = calloc(9, sizeof(struct item)); add(l, 3); free(l->items); free(l); }\n"),
    _list("another record has a number of that name", "if (k == 80) { struct other o = {4}; l.count -= o.count; }", "struct other { int count; };\n"),
    _list("the list begins with another one's items", "if (k == 80) { struct list m = {l.items, 0}; m.items[0].id = 9; }"),
    # -- the search
    _of("the loop never ends by itself", "", find="static int find(long id) { int i = 0; while (count) { if (ids[i] == id) break; i++; } return i; }\\n"),
    _of("both may hold", "", find="static int find(long id) { int i = 0; while (i < count || ids[i] != id) i++; return i; }\\n"),
    _of("another place is counted", "", find="static int find(long id) { static int i; for (i = 0; i < count; i++) if (ids[i] == id) return i; return -1; }\\n"),
    _of("not found is what is looked for", "", find="static int find(long id) { for (int i = 0; i < count; i++) if (ids[i] != id) return i; return -1; }\\n"),
    _of("the next item", "", find="static int find(long id) { for (int i = 0; i < count; i++) if (ids[i + 1] == id) return i; return -1; }\\n"),
    _of("a part of the items", "", find="static int find(long id) { for (int i = 0; i < count - 1; i++) if (ids[i] == id) return i; return -1; }\\n"),
    _of("a do loop", "", find="static int find(long id) { int i = 0; do { if (ids[i] == id) break; i++; } while (i < count); return i; }\\n"),
    _of("from behind", "", find="static int find(long id) { for (int i = count - 1; i >= 0; i--) if (ids[i] == id) return i; return -1; }\n"),
    _of("not from the first", "", find="static int find(long id) { for (int i = 1; i < count; i++) if (ids[i] == id) return i; return -1; }\n"),
    _of("every other item", "", find="static int find(long id) { for (int i = 0; i < count; i += 2) if (ids[i] == id) return i; return -1; }\n"),
    _of("counts its steps", "", find="static int steps;\nstatic int find(long id) { for (int i = 0; i < count; i++) { steps++; if (ids[i] == id) return i; } return -1; }\n"),
    _of("does something with the others", "", find="static int find(long id) { int s = 0; for (int i = 0; i < count; i++) if (ids[i] == id) return i; else s++; return -s; }\n"),
    _of("goes on after it is found", "", find="static int find(long id) { int at = -1; for (int i = 0; i < count; i++) if (ids[i] == id) at = i; return at; }\n"),
    _of("looks for something greater", "", find="static int find(long id) { for (int i = 0; i < count; i++) if (ids[i] >= id) return i; return -1; }\n"),
    _of("something else is asked first", "", find="static int calls;\nstatic int find(long id) { for (int i = 0; i < count; i++) if (calls++ > 5 && ids[i] == id) return i; return -1; }\n"),
    _of("the key is made by a call", "", find="static long next(long id) { static long k; return id + k++; }\nstatic int find(long id) { for (int i = 0; i < count; i++) if (ids[i] == next(id)) return i; return -1; }\n"),
    _of("the key depends on the place", "", find="static long keys[900];\nstatic int find(long id) { for (int i = 0; i < count; i++) if (ids[i] == keys[i] + id) return i; return -1; }\n"),
    _of("signed and unsigned", "", find="static int find(unsigned long id) { for (int i = 0; i < count; i++) if (ids[i] == id) return i; return -1; }\n"),
    _of("fractions", "", head="static double ids[900];\nstatic int count;\n", find="static int find(double id) { for (int i = 0; i < count; i++) if (ids[i] == id) return i; return -1; }\n"),
    _of("volatile", "", head="static volatile long ids[900];\nstatic int count;\n"),
    _of("the count is volatile", "", head="static long ids[900];\nstatic volatile int count;\n"),
    _of("a signal comes in between", "signal(2, stop);", "#include <signal.h>\nstatic void stop(int s) { (void)s; count = 0; }\n"),
    _of("threads", "", "#include <pthread.h>\n"),
    _of("a header that is not there", "", "#include \"more.h\"\n"),
    miss("a part of the array is handed over", _NAME, "static long a[90];\nstatic int n;\nstatic int find(const long *v, int n, long id) { for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(a + 1, n, k % 7) < 0) a[n++] = k % 7; return n; }"),
    miss("one item less is handed over", _NAME, "static long a[90];\nstatic int n;\nstatic int find(const long *v, int n, long id) { for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(a, n - 1, k % 7) < 0) a[n++] = k % 7; return n; }"),
    miss("the parameter goes on in the array", _NAME, "static long a[90];\nstatic int n;\nstatic int find(const long *v, int n, long id) { if (n > 4) { v++; n--; } for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(a, n, k % 7) < 0) a[n++] = k % 7; return n; }"),
    miss("the parameter gets another value", _NAME, "static long a[90];\nstatic int n;\nstatic int find(const long *v, int n, long id) { if (n > 4) n = 4; for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(a, n, k % 7) < 0) a[n++] = k % 7; return n; }"),
    miss("the list is handed over through a pointer", _NAME, "struct list { long ids[90]; int n; };\nstatic struct list one, *l = &one;\nstatic long a[90];\nstatic int n;\nstatic int find(const long *v, int n, long id) { for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(l->ids, l->n, k % 7) < 0) a[n++] = k % 7; return n; }"),
    miss("the number of another list", _NAME, "struct list { long ids[90]; int n; };\nstatic struct list one, two;\nstatic long a[90];\nstatic int n;\nstatic int find(const long *v, int n, long id) { for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(one.ids, two.n, k % 7) < 0) a[n++] = k % 7; return n; }"),
    miss("the numbers are fractions", _NAME, "static long a[90];\nstatic double n;\nstatic int find(const long *v, double n, long id) { for (int i = 0; i < n; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(a, n, k % 7) < 0) a[(int)n++] = k % 7; return n; }"),
    miss("searched once", _NAME, _HEAD + _FIND + "int main(void) { ids[count++] = 4; printf(\"%d\", find(4)); return 0; }"),
    miss("two arrays are handed over", _NAME, "static long a[90], b[90];\nstatic int n, m;\nstatic int find(const long *v, int k, long id) { for (int i = 0; i < k; i++) if (v[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) { if (find(a, n, k % 7) < 0) a[n++] = k % 7; if (find(b, m, k) < 0) b[m++] = k; } return n; }"),
    miss("who calls it is not known", _NAME, "static long a[90];\nstatic int n;\nint find(const long *v, int k, long id) { for (int i = 0; i < k; i++) if (v[i] == id) return i; return -1; }\nint (*asked)(const long *, int, long) = find;\nint main(void) { for (long k = 0; k < 90; k++) if (find(a, n, k % 7) < 0) a[n++] = k % 7; return n; }"),
    miss("no program but a library", _NAME, "long ids[900];\nint count;\n" + _FIND + "void add(long id) { for (int r = 0; r < 3; r++) if (find(id + r) < 0) ids[count++] = id + r; }"),
    miss("a name of the function's own", _NAME, _HEAD + "static int find(long id) { long ids[3] = {1, 2, 3}; int count = 3; for (int i = 0; i < count; i++) if (ids[i] == id) return i; return -1; }\nint main(void) { for (long k = 0; k < 90; k++) if (find(k) < 0) ids[count++] = k; return count; }"),
)  # fmt: skip
