"""Recursions over all below a node that are called for each node, and those that are not."""

from __future__ import annotations

import pytest

from tests.diagnosis.source.programs import Case, case, first_cause

RECURSION = "redundant-recursion"
NODE = """
struct node { struct node *left, *right; int key; double weight; };
"""
SIZE = (
    NODE
    + """
static int size(const struct node *n) {
  if (!n) return 0;
  return 1 + size(n->left) + size(n->right); // HOT
}
"""
)
CLASS = """
class Node {
public:
  Node* left() const { return left_; }
  bool isTip() const { return left_ == nullptr; }
  int tips() const { return isTip() ? 1 : left_->tips() + right_->tips(); } // HOT
private:
  Node* left_; Node* right_;
};
struct Tree { Node* top; Node* root() const { return top; } };
"""

CASES = [
    case("a recursion of its own over the tree", RECURSION, SIZE + """
void balance(struct node *n) {
  if (!n) return;
  n->weight = size(n->left) / (double)size(n);
  balance(n->left);
  balance(n->right);
}"""),
    case("a loop over an array of nodes", RECURSION, SIZE + """
void weights(struct node *all, int count) {
  for (int i = 0; i < count; i++) all[i].weight = size(all[i].left);
}"""),
    case("a method for each of a vector of nodes", RECURSION, CLASS + """
int lopsided(const std::vector<Node*>& all) {
  int found = 0;
  for (const Node* n : all) found += n->left()->tips() > 1;
  return found;
}"""),
    case("children in a vector", RECURSION, """
struct Part { std::vector<Part*> children; double mass; double share; };
double mass(const Part* p) {
  double sum = p->mass;
  for (const Part* c : p->children) sum += mass(c); // HOT
  return sum;
}
void shares(Part* p) {
  p->share = p->mass / mass(p);
  for (Part* c : p->children) shares(c);
}"""),
    case("one tree after the other", "", SIZE + """
int all(struct node **roots, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) sum += size(roots[i]);
  return sum;
}"""),
    case("roots of records", "", CLASS + """
int all(const std::vector<Tree>& trees) {
  int sum = 0;
  for (const Tree& t : trees) sum += t.root()->tips() + t.top->tips();
  return sum;
}"""),
    case("a search that takes one branch for each key", "", NODE + """
static double find(const struct node *n, int key) {
  if (!n) return 0;
  if (n->key == key) return n->weight;
  return key < n->key ? find(n->left, key) : find(n->right, key); // HOT
}
double all(struct node *n, int last) {
  double sum = 0;
  for (int k = 0; k < last; k++) sum += find(n, k);
  return sum;
}"""),
    case("sizes on the way down one path", "", SIZE + """
int nth(const struct node *n, int k) {
  int before = size(n->left);
  if (k == before) return n->key;
  if (k < before) return nth(n->left, k);
  return nth(n->right, k - before - 1);
}"""),
    case("what is found is kept", "", NODE + """
static double total(struct node *n) {
  if (!n) return 0;
  if (n->weight > 0) return n->weight;
  return n->weight = n->key + total(n->left) + total(n->right); // HOT
}
void all(struct node *nodes, int count) {
  for (int i = 0; i < count; i++) total(nodes[i].left);
}"""),
    case("up to the root, for each node", "", """
struct node { struct node *parent; double length; };
static double depth(const struct node *n) {
  return n->parent ? n->length + depth(n->parent) : 0; // HOT
}
double all(struct node *nodes, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += depth(nodes[i].parent);
  return sum;
}"""),
]  # fmt: skip


@pytest.mark.parametrize("each", CASES, ids=[each.name for each in CASES])
def test_recursions_over_a_tree(each: Case) -> None:
    assert first_cause(each.text, "a.cpp" if "class " in each.text or "std::" in each.text else "a.c") == each.cause
