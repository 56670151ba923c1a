"""Lists that get new memory and are copied for each item: what is one, and what only looks like it."""

from __future__ import annotations

import pytest

from tests.diagnosis.source.programs import Case, case, diagnosis_of, first_cause

CHURN, COPIES = "allocation-churn", "redundant-copies"

FORTRAN = [
    case("move_alloc in a routine that is called in a loop", CHURN, """
subroutine push(self, v)
  type(list), intent(inout) :: self
  real(8), intent(in) :: v
  real(8), allocatable :: more(:)
  allocate (more(self%n + 1))
  more(1:self%n) = self%item(1:self%n) ! HOT
  more(self%n + 1) = v
  call move_alloc(more, self%item)
  self%n = self%n + 1
end subroutine"""),
    case("the list's own size, with keywords and a lower bound", CHURN, """
subroutine push(ids, v)
  integer, allocatable, intent(inout) :: ids(:)
  integer, intent(in) :: v
  integer, allocatable :: t(:)
  allocate (t(1:size(ids) + 1))
  t(:size(ids)) = ids ! HOT
  t(size(t)) = v
  call move_alloc(from=t, to=ids)
end subroutine"""),
    case("element by element, in a loop of the same routine", CHURN, """
subroutine gather(x, n, kept)
  integer, intent(in) :: n
  real, intent(in) :: x(n)
  real, allocatable, intent(out) :: kept(:)
  real, allocatable :: t(:)
  integer :: i, j, m
  m = 0
  allocate (kept(0))
  do i = 1, n
    if (x(i) > 0) then
      allocate (t(m + 1))
      do j = 1, m
        t(j) = kept(j) ! HOT
      end do
      t(m + 1) = x(i)
      deallocate (kept)
      call move_alloc(t, kept)
      m = m + 1
    end if
  end do
end subroutine"""),
    case("an array constructor in a routine that is called in a loop", COPIES, """
subroutine push(self, v)
  type(list), intent(inout) :: self
  real, intent(in) :: v
  self%item = [self%item, v] ! HOT
end subroutine"""),
    case("called once", "", """
subroutine push(self, v) ! ONCE
  type(list), intent(inout) :: self
  real, intent(in) :: v
  real, allocatable :: more(:)
  allocate (more(self%n + 1))
  more(1:self%n) = self%item(1:self%n) ! HOT
  more(self%n + 1) = v
  call move_alloc(more, self%item)
end subroutine"""),
    case("room that doubles", "", """
subroutine push(self, v)
  type(list), intent(inout) :: self
  real(8), intent(in) :: v
  real(8), allocatable :: more(:)
  if (self%n == size(self%item)) then
    allocate (more(2*self%n + 1))
    more(1:self%n) = self%item(1:self%n) ! HOT
    call move_alloc(more, self%item)
  end if
  self%n = self%n + 1
  self%item(self%n) = v
end subroutine"""),
    case("room that grows by half, through a variable", "", """
subroutine push(self, v)
  type(list), intent(inout) :: self
  real(8), intent(in) :: v
  real(8), allocatable :: more(:)
  integer :: room
  room = self%n + self%n/2 + 1
  allocate (more(room))
  more(1:self%n) = self%item(1:self%n) ! HOT
  call move_alloc(more, self%item)
  self%n = self%n + 1
  self%item(self%n) = v
end subroutine"""),
    case("as many as are added", "", """
subroutine append(self, v, m)
  type(list), intent(inout) :: self
  integer, intent(in) :: m
  real(8), intent(in) :: v(m)
  real(8), allocatable :: more(:)
  allocate (more(self%n + m))
  more(1:self%n) = self%item(1:self%n) ! HOT
  more(self%n + 1:) = v
  call move_alloc(more, self%item)
  self%n = self%n + m
end subroutine"""),
    case("a work array with a place more", "", """
subroutine flux(q, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: q(n)
  real(8), allocatable :: f(:)
  allocate (f(n + 1))
  f(1:n) = q(1:n) ! HOT
  f(n + 1) = f(n)
  q = f(2:n + 1) - f(1:n)
end subroutine"""),
]  # fmt: skip

CPP = [
    case("new and copy, in a class", CHURN, """
class Bag {
 public:
  void put(double x) {
    double *larger = new double[n_ + 1];
    std::copy(at_, at_ + n_, larger); // HOT memmove
    larger[n_] = x;
    delete[] at_;
    at_ = larger;
    ++n_;
  }
 private:
  double *at_;
  int n_;
};"""),
    case("a vector that is made anew", CHURN, """
void put(std::vector<long> &v, long x) {
  std::vector<long> larger(v.size() + 1);
  for (size_t i = 0; i < v.size(); i++) larger[i] = v[i]; // HOT
  larger[v.size()] = x;
  v.swap(larger);
}"""),
    case("room for one more each time", CHURN, """
void put(std::vector<long> &v, long x) {
  v.reserve(v.size() + 1); // HOT malloc
  v.push_back(x);
}"""),
    case("memory of unique_ptr", CHURN, """
void put(Bag *bag, double x) {
  auto larger = std::make_unique<double[]>(bag->n + 4);
  std::copy_n(bag->at.get(), bag->n, larger.get()); // HOT memmove
  larger[bag->n] = x;
  bag->at = std::move(larger);
  bag->n += 1;
}"""),
    case("room for all that come", "", """
void put(std::vector<long> &v, const std::vector<long> &more) {
  v.reserve(v.size() + more.size());
  for (long x : more) v.push_back(x); // HOT
}"""),
    case("room for a whole line more", CHURN, """
void put(std::vector<long> &v) {
  v.reserve(v.size() + 100000); // HOT malloc
  v.push_back(1);
}""".replace("v.size() + 100000", "v.size() + 8")),
    case("a vector grows by itself", "", """
void put(std::vector<long> &v, long x) {
  v.push_back(x); // HOT
}"""),
    case("twice the room", COPIES, """
class Bag {
 public:
  void put(double x) {
    if (n_ == room_) {
      double *larger = new double[2 * room_ + 1];
      std::copy(at_, at_ + n_, larger); // HOT memmove
      delete[] at_;
      at_ = larger;
      room_ = 2 * room_ + 1;
    }
    at_[n_++] = x;
  }
 private:
  double *at_;
  int n_, room_;
};"""),
]  # fmt: skip

C = [
    case("malloc, memcpy, free", CHURN, """
struct list { size_t n; double *at; };
void put(struct list *l, double x) {
  double *larger = malloc((l->n + 1) * sizeof *larger);
  memcpy(larger, l->at, l->n * sizeof *larger); // HOT memcpy
  larger[l->n] = x;
  free(l->at);
  l->at = larger;
  l->n++;
}"""),
    case("through a variable, element by element", CHURN, """
int *list;
int used;
void put(int x) {
  int now = used + 1;
  int *larger = (int *)calloc(now, sizeof(int));
  for (int i = 0; i < used; i++)
    larger[i] = list[i]; // HOT
  larger[used] = x;
  free(list);
  list = larger;
  used = now;
}"""),
    case("the end of a text", COPIES, """
struct text { size_t n; char *at; };
void room(struct text *t, size_t n) {
  char *larger = malloc(n + 1);
  memcpy(larger, t->at, t->n); // HOT memcpy
  larger[t->n] = '\\0';
  free(t->at);
  t->at = larger;
}"""),
    case("a copy that stays one", COPIES, """
double *twin(const double *x, int n) {
  double *y = malloc((n + 1) * sizeof *y);
  memcpy(y, x, n * sizeof *y); // HOT memcpy
  y[n] = 1.0;
  return y;
}"""),
    case("twice the room", COPIES, """
struct list { size_t n, room; double *at; };
void put(struct list *l, double x) {
  if (l->n == l->room) {
    size_t room = l->room ? 2 * l->room : 8;
    double *larger = malloc(room * sizeof *larger);
    memcpy(larger, l->at, l->n * sizeof *larger); // HOT memcpy
    free(l->at);
    l->at = larger;
    l->room = room;
  }
  l->at[l->n++] = x;
}"""),
    case("what a function says", COPIES, """
void put(struct list *l, double x) {
  size_t room = next_room(l->n);
  double *larger = malloc((room + 1) * sizeof *larger);
  memcpy(larger, l->at, l->n * sizeof *larger); // HOT memcpy
  larger[l->n] = x;
  l->at = larger;
  l->n++;
}"""),
]  # fmt: skip


@pytest.mark.parametrize("one", FORTRAN, ids=lambda one: one.name)
def test_fortran(one: Case) -> None:
    assert first_cause(one.text, "a.f90") == one.cause


@pytest.mark.parametrize("one", CPP, ids=lambda one: one.name)
def test_cpp(one: Case) -> None:
    assert first_cause(one.text, "a.cpp") == one.cause


@pytest.mark.parametrize("one", C, ids=lambda one: one.name)
def test_c(one: Case) -> None:
    assert first_cause(one.text, "a.c") == one.cause


def test_the_lines_from_the_new_memory_to_its_taking_over_are_the_cost() -> None:
    (found, *others) = diagnosis_of(FORTRAN[0].text, "a.f90").findings
    assert (found.cause, found.share) == (CHURN, pytest.approx(1.0))
    assert not others
    said = [each.statement for each in diagnosis_of(FORTRAN[0].text, "a.f90").evidence]
    assert "Lines 5 to 8 of a.f90 take 1.00 s of 1.00 s (100 %)." in said
    assert (
        "The source at a.f90:5 allocates memory for self%n + 1 items, copies self%item to it and replaces self%item with it each time."
        in said
    )
