// Preranked gene-set enrichment with a phenotype permutation null.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace gsea {

using Index = std::uint32_t;

struct Expression {
    std::size_t genes = 0;
    std::size_t samples = 0;
    std::vector<float> data;  // gene-major

    const float* row(std::size_t g) const { return data.data() + g * samples; }
    float* row(std::size_t g) { return data.data() + g * samples; }
};

struct GeneSet {
    std::string name;
    std::vector<Index> members;
};

enum class Direction { Up, Down };

// Signal-to-noise ratio of every gene between the two phenotype classes.
class SignalToNoise {
public:
    explicit SignalToNoise(const Expression& expr) : expr_(expr), total_(expr.genes), totalSq_(expr.genes)
    {
        for (std::size_t g = 0; g < expr_.genes; ++g) {
            const float* x = expr_.row(g);
            float s = 0, q = 0;
            for (std::size_t j = 0; j < expr_.samples; ++j) {
                s += x[j];
                q += x[j] * x[j];
            }
            total_[g] = s;
            totalSq_[g] = q;
        }
    }

    void operator()(const std::vector<Index>& cases, std::vector<double>& metric) const
    {
        const double n1 = double(cases.size());
        const double n0 = double(expr_.samples) - n1;
        for (std::size_t g = 0; g < expr_.genes; ++g) {
            const float* x = expr_.row(g);
            float s = 0, q = 0;
            for (Index j : cases) {
                s += x[j];
                q += x[j] * x[j];
            }
            const double m1 = s / n1, m0 = (total_[g] - s) / n0;
            const double v1 = std::max(q / n1 - m1 * m1, 1e-4);
            const double v0 = std::max((totalSq_[g] - q) / n0 - m0 * m0, 1e-4);
            metric[g] = (m1 - m0) / (std::sqrt(v1) + std::sqrt(v0));
        }
    }

private:
    const Expression& expr_;
    std::vector<float> total_, totalSq_;
};

class RankedList {
public:
    explicit RankedList(std::size_t genes) : order_(genes), position_(genes) {}

    void build(const std::vector<double>& metric, Direction dir)
    {
        std::iota(order_.begin(), order_.end(), Index(0));
        const bool descending = dir == Direction::Up;
        std::sort(order_.begin(), order_.end(), [metric, descending](Index a, Index b) {
            if (metric[a] != metric[b])
                return descending ? metric[a] > metric[b] : metric[a] < metric[b];
            return a < b;
        });
        for (std::size_t i = 0; i < order_.size(); ++i)
            position_[order_[i]] = Index(i);
    }

    // Weighted Kolmogorov-Smirnov running sum evaluated at the hits only.
    double enrichment(const GeneSet& set, const std::vector<double>& metric, std::vector<Index>& hits) const
    {
        hits.clear();
        double norm = 0;
        for (Index g : set.members) {
            hits.push_back(position_[g]);
            norm += std::fabs(metric[g]);
        }
        std::sort(hits.begin(), hits.end());
        const double miss = 1.0 / double(order_.size() - hits.size());
        double sum = 0, best = 0;
        for (std::size_t k = 0; k < hits.size(); ++k) {
            const double before = sum - miss * double(hits[k] - k);
            if (std::fabs(before) > std::fabs(best)) best = before;
            sum += std::fabs(metric[order_[hits[k]]]) / norm;
            const double after = sum - miss * double(hits[k] - k);
            if (std::fabs(after) > std::fabs(best)) best = after;
        }
        return best;
    }

private:
    std::vector<Index> order_, position_;
};

Expression simulate(std::size_t genes, std::size_t samples, std::mt19937& rng)
{
    Expression e;
    e.genes = genes;
    e.samples = samples;
    e.data.resize(genes * samples);
    std::normal_distribution<float> noise(0.f, 1.f);
    for (std::size_t g = 0; g < genes; ++g) {
        const float shift = g % 37 == 0 ? 0.8f : 0.f;
        for (std::size_t j = 0; j < samples; ++j)
            e.row(g)[j] = 6.f + noise(rng) + (j < samples / 2 ? shift : 0.f);
    }
    return e;
}

std::vector<GeneSet> pathways(std::size_t count, std::size_t genes, std::mt19937& rng)
{
    std::vector<GeneSet> sets(count);
    std::vector<Index> pool(genes);
    std::iota(pool.begin(), pool.end(), Index(0));
    for (std::size_t s = 0; s < count; ++s) {
        sets[s].name = "PATHWAY_" + std::to_string(s);
        std::shuffle(pool.begin(), pool.end(), rng);
        sets[s].members.assign(pool.begin(), pool.begin() + 15 + rng() % 45);
        if (s % 8 == 0)
            for (std::size_t k = 0; k < sets[s].members.size() / 2; ++k)
                sets[s].members[k] = Index(37 * (rng() % (genes / 37)));
        std::sort(sets[s].members.begin(), sets[s].members.end());
        sets[s].members.erase(std::unique(sets[s].members.begin(), sets[s].members.end()), sets[s].members.end());
    }
    return sets;
}

}  // namespace gsea

int main(int argc, char** argv)
{
    using namespace gsea;
    const int permutations = argc > 1 ? std::atoi(argv[1]) : 8000;
    std::mt19937 rng(20240517);
    const Expression expr = simulate(1500, 64, rng);
    const std::vector<GeneSet> sets = pathways(60, expr.genes, rng);

    const SignalToNoise score(expr);
    RankedList ranked(expr.genes);
    std::vector<double> metric(expr.genes), observed(sets.size());
    std::vector<Index> label(expr.samples), hits;
    std::iota(label.begin(), label.end(), Index(0));
    std::vector<Index> cases(label.begin(), label.begin() + expr.samples / 2);

    score(cases, metric);
    ranked.build(metric, Direction::Up);
    for (std::size_t s = 0; s < sets.size(); ++s)
        observed[s] = ranked.enrichment(sets[s], metric, hits);

    std::vector<int> exceed(sets.size(), 0);
    for (int p = 0; p < permutations; ++p) {
        std::shuffle(label.begin(), label.end(), rng);
        std::copy_n(label.begin(), cases.size(), cases.begin());
        score(cases, metric);
        ranked.build(metric, Direction::Up);
        for (std::size_t s = 0; s < sets.size(); ++s) {
            const double es = ranked.enrichment(sets[s], metric, hits);
            if (es * observed[s] > 0 && std::fabs(es) >= std::fabs(observed[s])) ++exceed[s];
        }
    }
    for (std::size_t s = 0; s < sets.size(); s += 4)
        std::printf("%-12s size %2zu  ES %+.5f  p %.5f\n", sets[s].name.c_str(), sets[s].members.size(), observed[s],
                    (exceed[s] + 1.0) / (permutations + 1.0));
}
