#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKU_LEN 16

struct item {
  char sku[SKU_LEN];
  long qty;
  long moves;
};

struct store {
  struct item *items;
  int used;
  int room;
};

static unsigned state = 12345u;

static unsigned draw(unsigned range)
{
  state = state * 1664525u + 1013904223u;
  return (state >> 9) % range;
}

static struct item *find_item(struct store *st, const char *sku)
{
  struct item *p = st->items;
  struct item *end = st->items + st->used;
  while (p != end) {
    if (strcmp(p->sku, sku) == 0)
      return p;
    p++;
  }
  return NULL;
}

static struct item *add_item(struct store *st, const char *sku)
{
  struct item *p;
  if (st->used == st->room) {
    st->room = st->room ? 2 * st->room : 64;
    st->items = realloc(st->items, st->room * sizeof(struct item));
  }
  p = &st->items[st->used++];
  strcpy(p->sku, sku);
  p->qty = 0;
  p->moves = 0;
  return p;
}

static void post(struct store *st, const char *sku, long delta)
{
  struct item *it = find_item(st, sku);
  if (!it)
    it = add_item(st, sku);
  it->qty += delta;
  it->moves++;
}

int main(int argc, char **argv)
{
  int events = argc > 1 ? atoi(argv[1]) : 150000;
  unsigned kinds = argc > 2 ? (unsigned)atoi(argv[2]) : 12000u;
  struct store st = {NULL, 0, 0};
  char sku[SKU_LEN];
  long sum = 0;
  int i;
  for (i = 0; i < events; i++) {
    sprintf(sku, "WH-%07u", draw(kinds) * 37u % 9999991u);
    post(&st, sku, (long)draw(200) - 80);
  }
  for (i = 0; i < st.used; i++)
    sum += st.items[i].qty * (st.items[i].moves % 7 + 1);
  printf("checksum %ld %d\n", sum, st.used);
  free(st.items);
  return 0;
}
