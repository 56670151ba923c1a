/* concord - keyword concordance of a running text with lemma lookup */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NSTEM 96
#define MAXWORD 24

static const char *onset[] = {"b", "k", "st", "tr", "m", "l", "v", "pr"};
static const char *nucleus[] = {"a", "e", "io", "u", "ai", "o"};
static const char *suffix[] = {"", "s", "ed", "ing", "er", "ly", "ness"};

static char stems[NSTEM][MAXWORD];
static unsigned seed = 20011u;

static unsigned draw(unsigned m)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % m;
}

static void make_stems(void)
{
    for (int i = 0; i < NSTEM; i++) {
        stems[i][0] = 0;
        for (int s = 0; s < 3; s++) {
            strcat(stems[i], onset[draw(8)]);
            strcat(stems[i], nucleus[draw(6)]);
        }
    }
}

__attribute__((noinline)) void next_token(char *word)
{
    unsigned r = draw(NSTEM), q = draw(NSTEM);
    strcpy(word, stems[r < q ? r : q]);          /* lower ranks are more frequent */
    strcat(word, suffix[draw(7)]);
    if (draw(12) == 0)
        word[draw((unsigned)strlen(word))] = 'x';      /* misprint */
}

__attribute__((noinline)) int edit_distance(const char *a, const char *b)
{
    int la = (int)strlen(a), lb = (int)strlen(b);
    int d[MAXWORD + 1];
    for (int j = 0; j <= lb; j++) d[j] = j;
    for (int i = 1; i <= la; i++) {
        int prev = d[0];
        d[0] = i;
        for (int j = 1; j <= lb; j++) {
            int c = prev + (a[i - 1] != b[j - 1]);
            prev = d[j];
            if (d[j] + 1 < c) c = d[j] + 1;
            if (d[j - 1] + 1 < c) c = d[j - 1] + 1;
            d[j] = c;
        }
    }
    return d[lb];
}

__attribute__((noinline)) int lemma_of(const char *word)
{
    int best = 0, bestd = 1000;
    for (int i = 0; i < NSTEM; i++) {
        int d = edit_distance(word, stems[i]);
        if (d < bestd) { bestd = d; best = i; }
    }
    return best;
}

__attribute__((noinline)) void append_entry(char *text, const char *word, long pos)
{
    char line[64];
    snprintf(line, sizeof line, "%10ld  %-22s\n", pos, word);
    strcat(text, line);
}

__attribute__((noinline)) unsigned long digest(const char *text)
{
    unsigned long h = 5381;
    for (; *text; text++) h = h * 33 + (unsigned char)*text;
    return h;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10000;
    char *text = malloc((size_t)n * 64 + 1);
    long freq[NSTEM] = {0};
    char word[MAXWORD * 2];
    text[0] = 0;
    make_stems();
    for (long i = 0; i < n; i++) {
        next_token(word);
        freq[lemma_of(word)]++;
        append_entry(text, word, i);
    }
    printf("tokens %ld digest %lx\n", n, digest(text));
    for (int i = 0; i < 5; i++) printf("%-16s %ld\n", stems[i], freq[i]);
    free(text);
    return 0;
}
