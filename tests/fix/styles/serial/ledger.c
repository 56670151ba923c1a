#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOK "ledger.tmp"

enum kind { DEPOSIT, DRAW, FEE };

typedef struct {
  int account;
  int kind;
  long cents;
} Entry;

static long balance[1000];

static Entry next_entry(void)
{
  static unsigned long s = 31;
  Entry e;
  memset(&e, 0, sizeof e);
  s = (s * 69069ul + 5ul) & 0xfffffffful;
  e.account = (int)((s >> 7) % 1000);
  e.kind = (int)((s >> 19) % 3);
  e.cents = (long)((s >> 11) % 100000);
  return e;
}

static void apply(const Entry *e)
{
  switch (e->kind) {
  case DEPOSIT: balance[e->account] += e->cents; break;
  case DRAW:    balance[e->account] -= e->cents / 2; break;
  default:      balance[e->account] -= 25; break;
  }
}

static void append_entry(const Entry *e)
{
  FILE *book = fopen(BOOK, "ab");
  if (!book) {
    perror(BOOK);
    exit(1);
  }
  fwrite(e, sizeof *e, 1, book);
  fclose(book);
}

static unsigned long audit(void)
{
  Entry e;
  unsigned long h = 5381;
  FILE *book = fopen(BOOK, "rb");
  if (!book) return 0;
  while (fread(&e, sizeof e, 1, book) == 1)
    h = (h * 33 + (unsigned long)(e.account + e.kind) + (unsigned long)e.cents) & 0xfffffffful;
  fclose(book);
  return h;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 300000;
  long total = 0;
  unsigned long h;
  int i;
  remove(BOOK);
  for (i = 0; i < n; i++) {
    Entry e = next_entry();
    apply(&e);
    append_entry(&e);
  }
  h = audit();
  remove(BOOK);
  for (i = 0; i < 1000; i++) total += balance[i] * (i % 3 + 1);
  printf("checksum %ld %lu\n", total, h);
  return 0;
}
