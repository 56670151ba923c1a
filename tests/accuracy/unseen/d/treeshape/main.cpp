// Shape and parsimony statistics over a posterior sample of phylogenies.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stack>
#include <vector>

namespace phylo {

class Node {
public:
    explicit Node(int id) : id_(id) {}
    Node(int id, Node* l, Node* r) : id_(id), left_(l), right_(r) {}

    int id() const { return id_; }
    bool isTip() const { return left_ == nullptr; }
    Node* left() const { return left_; }
    Node* right() const { return right_; }
    double branch() const { return branch_; }
    void setBranch(double b) { branch_ = b; }
    void rotate() { std::swap(left_, right_); }

    int tips() const { return isTip() ? 1 : left_->tips() + right_->tips(); }

private:
    int id_;
    Node* left_ = nullptr;
    Node* right_ = nullptr;
    double branch_ = 0;
};

class Tree {
public:
    // Lineages merge backwards in time; `skew` is the chance that the most
    // recently formed clade takes part in the next merger.
    static Tree coalesce(int tips, double skew, std::mt19937_64& rng)
    {
        Tree t;
        std::vector<Node*> lineages;
        std::uniform_real_distribution<double> unit(0, 1);
        t.pool_.reserve(2 * tips);
        for (int i = 0; i < tips; ++i) lineages.push_back(t.add(Node(i)));
        while (lineages.size() > 1) {
            const std::size_t k = lineages.size();
            std::size_t a = unit(rng) < skew ? k - 1 : rng() % k;
            std::swap(lineages[a], lineages.back());
            Node* x = lineages.back();
            lineages.pop_back();
            const std::size_t b = rng() % lineages.size();
            Node* y = lineages[b];
            x->setBranch(unit(rng) / double(k));
            y->setBranch(unit(rng) / double(k));
            lineages[b] = lineages.back();
            lineages.back() = t.add(Node(int(t.pool_.size()), x, y));
        }
        t.root_ = lineages.front();
        t.indexPostorder();
        return t;
    }

    const std::vector<Node*>& postorder() const { return postorder_; }
    const Node* root() const { return root_; }
    int nodes() const { return int(pool_.size()); }

    void ladderize()
    {
        for (Node* n : postorder_)
            if (!n->isTip() && n->left()->tips() > n->right()->tips()) n->rotate();
        indexPostorder();
    }

private:
    Node* add(const Node& n)
    {
        pool_.push_back(std::make_unique<Node>(n));
        return pool_.back().get();
    }

    void indexPostorder()
    {
        postorder_.clear();
        std::stack<Node*, std::vector<Node*>> todo;
        todo.push(root_);
        while (!todo.empty()) {
            Node* n = todo.top();
            todo.pop();
            postorder_.push_back(n);
            if (!n->isTip()) {
                todo.push(n->left());
                todo.push(n->right());
            }
        }
        std::reverse(postorder_.begin(), postorder_.end());
    }

    std::vector<std::unique_ptr<Node>> pool_;
    std::vector<Node*> postorder_;
    Node* root_ = nullptr;
};

struct Shape {
    long long colless = 0;
    int cherries = 0;
    double length = 0;
};

Shape shapeOf(const Tree& tree)
{
    Shape s;
    for (const Node* n : tree.postorder()) {
        s.length += n->branch();
        if (n->isTip()) continue;
        s.colless += std::abs(n->left()->tips() - n->right()->tips());
        s.cherries += n->left()->isTip() && n->right()->isTip();
    }
    return s;
}

// Fitch small parsimony; characters are one-hot nibbles, sixteen per word.
class Fitch {
public:
    Fitch(int tips, int words, std::mt19937_64& rng) : words_(words), tipStates_(std::size_t(tips) * words)
    {
        for (auto& w : tipStates_) {
            w = 0;
            for (int c = 0; c < 16; ++c) w |= std::uint64_t(1) << (4 * c + ((rng() % 8) ? 0 : rng() % 4));
        }
    }

    long long score(const Tree& tree)
    {
        states_.resize(std::size_t(tree.nodes()) * words_);
        constexpr std::uint64_t low = 0x1111111111111111ULL;
        long long changes = 0;
        for (const Node* n : tree.postorder()) {
            if (n->isTip()) continue;
            std::uint64_t* out = &states_[std::size_t(n->id()) * words_];
            const std::uint64_t* a = stateSet(n->left());
            const std::uint64_t* b = stateSet(n->right());
            for (int w = 0; w < words_; ++w) {
                const std::uint64_t both = a[w] & b[w];
                std::uint64_t any = both | both >> 1;
                any = (any | any >> 2) & low;
                const std::uint64_t empty = (any ^ low) * 15;
                out[w] = both | ((a[w] | b[w]) & empty);
                changes += __builtin_popcountll(any ^ low);
            }
        }
        return changes;
    }

private:
    const std::uint64_t* stateSet(const Node* n) const
    {
        return (n->isTip() ? tipStates_.data() : states_.data()) + std::size_t(n->id()) * words_;
    }

    int words_;
    std::vector<std::uint64_t> tipStates_, states_;
};

}  // namespace phylo

int main(int argc, char** argv)
{
    using namespace phylo;
    const int sampled = argc > 1 ? std::atoi(argv[1]) : 1200;
    const int tips = 3000;
    std::mt19937_64 rng(99173);
    Fitch fitch(tips, 144, rng);
    for (int s = 0; s < sampled; ++s) {
        Tree tree = Tree::coalesce(tips, 0.75 + 0.245 * s / sampled, rng);
        tree.ladderize();
        const Shape shape = shapeOf(tree);
        const long long steps = fitch.score(tree);
        if (s % 100 == 0)
            std::printf("tree %3d  tips %d  colless %lld  cherries %d  length %.5f  steps %lld\n", s, tree.root()->tips(),
                        shape.colless, shape.cherries, shape.length, steps);
    }
}
