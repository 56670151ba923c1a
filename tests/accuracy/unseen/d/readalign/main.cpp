// Local alignment of protein fragments against candidate domains
// (affine gaps, linear memory, cells swept along anti-diagonals).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kAlphabet = 20;

template <typename Score>
class SubstitutionTable {
public:
    SubstitutionTable(Score match, Score conservative, Score mismatch)
    {
        for (int a = 0; a < kAlphabet; ++a)
            for (int b = 0; b < kAlphabet; ++b)
                cell_[a * kAlphabet + b] = a == b ? match : (a / 4 == b / 4 ? conservative : mismatch);
    }
    const Score* row(int a) const { return cell_.data() + a * kAlphabet; }

private:
    std::array<Score, kAlphabet * kAlphabet> cell_{};
};

using Residues = std::vector<std::uint8_t>;

struct Hit {
    int query;
    int domain;
    int score;
};

template <typename Score>
class DiagonalAligner {
public:
    DiagonalAligner(const SubstitutionTable<Score>& table, Score open, Score extend)
        : table_(table), open_(open), extend_(extend) {}

    Score align(const Residues& query, const Residues& domain)
    {
        const int m = int(query.size()), n = int(domain.size());
        reset(m);
        Score* prev2 = h_[0].data();
        Score* prev = h_[1].data();
        Score* cur = h_[2].data();
        Score* e = e_.data();
        Score* f0 = f_[0].data();
        Score* f1 = f_[1].data();
        const std::uint8_t* q = query.data();
        const std::uint8_t* d = domain.data();
        Score best = 0;

        for (int diag = 0; diag < m + n - 1; ++diag) {
            const int lo = std::max(0, diag - n + 1);
            const int hi = std::min(m - 1, diag);
#pragma omp parallel for schedule(static) reduction(max : best)
            for (int i = lo; i <= hi; ++i) {
                const Score* sub = table_.row(q[i]);
                // index i + 1 is row i; index 0 is the boundary row
                const Score left = std::max<Score>(prev[i + 1] - open_, e[i + 1] - extend_);
                const Score up = std::max<Score>(prev[i] - open_, f0[i] - extend_);
                Score h = prev2[i] + sub[d[diag - i]];
                h = std::max(std::max<Score>(h, 0), std::max(left, up));
                e[i + 1] = left;
                f1[i + 1] = up;
                cur[i + 1] = h;
                best = std::max(best, h);
            }
            cur[0] = 0;
            f1[0] = -kBig;
            if (hi + 2 <= m) {
                cur[hi + 2] = 0;
                f1[hi + 2] = -kBig;
            }
            std::swap(f0, f1);
            Score* recycled = prev2;
            prev2 = prev;
            prev = cur;
            cur = recycled;
        }
        return best;
    }

private:
    static constexpr Score kBig = 1 << 20;

    void reset(int m)
    {
        for (auto& v : h_) v.assign(m + 2, 0);
        for (auto& v : f_) v.assign(m + 2, -kBig);
        e_.assign(m + 2, -kBig);
    }

    const SubstitutionTable<Score>& table_;
    Score open_, extend_;
    std::array<std::vector<Score>, 3> h_;
    std::array<std::vector<Score>, 2> f_;
    std::vector<Score> e_;
};

Residues randomProtein(std::mt19937& rng, int length)
{
    Residues r(length);
    for (auto& x : r) x = std::uint8_t(rng() % kAlphabet);
    return r;
}

Residues evolve(const Residues& parent, std::mt19937& rng, int percent)
{
    Residues child;
    child.reserve(parent.size() + 32);
    for (auto x : parent) {
        const int u = int(rng() % 1000);
        if (u < 15) continue;
        if (u < 30) child.push_back(std::uint8_t(rng() % kAlphabet));
        child.push_back(int(rng() % 100) < percent ? std::uint8_t(rng() % kAlphabet) : x);
    }
    return child;
}

}  // namespace

int main(int argc, char** argv)
{
    const int queries = argc > 1 ? std::atoi(argv[1]) : 24;
    std::mt19937 rng(7121);
    std::vector<Residues> domains, fragments;
    for (int k = 0; k < 12; ++k) domains.push_back(randomProtein(rng, 1100 + int(rng() % 300)));
    for (int k = 0; k < queries; ++k) fragments.push_back(evolve(domains[rng() % domains.size()], rng, 45));

    const SubstitutionTable<int> table(5, 1, -3);
    const int pairs = int(fragments.size() * domains.size());
    std::vector<Hit> hits(pairs);

    DiagonalAligner<int> aligner(table, 11, 1);
    for (int p = 0; p < pairs; ++p) {
        const int q = p / int(domains.size()), d = p % int(domains.size());
        hits[p] = {q, d, aligner.align(fragments[q], domains[d])};
    }

    std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
        return std::make_pair(-a.score, a.query) < std::make_pair(-b.score, b.query);
    });
    long total = 0;
    for (const Hit& h : hits) total += h.score;
    for (int k = 0; k < 8; ++k) std::printf("fragment %3d  domain %2d  score %d\n", hits[k].query, hits[k].domain, hits[k].score);
    std::printf("pairs %d  mean score %.3f\n", pairs, double(total) / pairs);
}
