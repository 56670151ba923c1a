// Dendrochronology: cross-dating of ring-width series. For each pair of
// trees the rank correlation is found at several lags, with a moving block
// bootstrap for its uncertainty.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace dendro {

class Rng {
public:
    explicit Rng(std::uint64_t seed) : s_(seed) {}
    std::uint32_t next()
    {
        s_ = s_ * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<std::uint32_t>(s_ >> 33);
    }
    double uniform() { return next() / 2147483648.0; }

private:
    std::uint64_t s_;
};

struct Core {
    std::string id;
    std::vector<double> width;
};

struct Match {
    int lag = 0;
    double rho = -2.0;
    double sigma = 0.0;
};

class Ranker {
public:
    explicit Ranker(std::size_t n) : order_(n), rank_(n) {}

    const std::vector<double>& operator()(const std::vector<double>& series)
    {
        std::iota(order_.begin(), order_.end(), 0);
        std::sort(order_.begin(), order_.end(), [series](int a, int b) {
            return series[a] < series[b] || (series[a] == series[b] && a < b);
        });
        for (std::size_t k = 0; k < order_.size(); ++k)
            rank_[order_[k]] = static_cast<double>(k);
        return rank_;
    }

private:
    std::vector<int> order_;
    std::vector<double> rank_;
};

class CrossDater {
public:
    CrossDater(std::size_t span, int maxLag, int resamples)
        : span_(span), maxLag_(maxLag), resamples_(resamples), a_(span), b_(span),
          rankA_(span), rankB_(span), rng_(977)
    {
    }

    Match match(const Core& x, const Core& y)
    {
        Match best;
        for (int lag = -maxLag_; lag <= maxLag_; ++lag) {
            window(x, y, lag);
            double r = spearman();
            if (r > best.rho) {
                best.rho = r;
                best.lag = lag;
            }
        }
        double s = 0.0, s2 = 0.0;
        for (int k = 0; k < resamples_; ++k) {
            resample(x, y, best.lag);
            double r = spearman();
            s += r;
            s2 += r * r;
        }
        double m = s / resamples_;
        best.sigma = std::sqrt(std::max(0.0, s2 / resamples_ - m * m));
        return best;
    }

private:
    void window(const Core& x, const Core& y, int lag)
    {
        for (std::size_t i = 0; i < span_; ++i) {
            a_[i] = x.width[i + maxLag_];
            b_[i] = y.width[i + maxLag_ + lag];
        }
    }

    void resample(const Core& x, const Core& y, int lag)
    {
        constexpr std::size_t block = 16;
        for (std::size_t i = 0; i < span_; i += block) {
            std::size_t from = rng_.next() % (span_ - block);
            for (std::size_t j = 0; j < block && i + j < span_; ++j) {
                a_[i + j] = x.width[from + j + maxLag_];
                b_[i + j] = y.width[from + j + maxLag_ + lag];
            }
        }
    }

    double spearman()
    {
        const auto& ra = rankA_(a_);
        const auto& rb = rankB_(b_);
        double d2 = 0.0;
        for (std::size_t i = 0; i < span_; ++i) {
            double d = ra[i] - rb[i];
            d2 += d * d;
        }
        double n = static_cast<double>(span_);
        return 1.0 - 6.0 * d2 / (n * (n * n - 1.0));
    }

    std::size_t span_;
    int maxLag_;
    int resamples_;
    std::vector<double> a_, b_;
    Ranker rankA_, rankB_;
    Rng rng_;
};

std::vector<Core> growStand(int trees, std::size_t years, Rng& rng)
{
    std::vector<double> climate(years + 16);
    double c = 0.0;
    for (auto& v : climate)
        v = c = 0.6 * c + rng.uniform() - 0.5;
    std::vector<Core> stand;
    for (int t = 0; t < trees; ++t) {
        Core core;
        core.id = "T" + std::to_string(100 + t);
        std::size_t shift = rng.next() % 8;
        for (std::size_t y = 0; y < years; ++y) {
            double age = 1.0 + 2.0 * std::exp(-static_cast<double>(y) / 80.0);
            core.width.push_back(age * (1.0 + 0.4 * climate[y + shift]
                                        + 0.5 * (rng.uniform() - 0.5)));
        }
        stand.push_back(std::move(core));
    }
    return stand;
}

} // namespace dendro

int main(int argc, char** argv)
{
    const int trees = argc > 1 ? std::atoi(argv[1]) : 26;
    const std::size_t span = 480;
    const int maxLag = 8;
    dendro::Rng rng(4242);
    auto stand = dendro::growStand(trees, span + 2 * maxLag, rng);

    dendro::CrossDater dater(span, maxLag, 60);
    double sumRho = 0.0, sumSigma = 0.0;
    long lags = 0;
    for (int i = 0; i < trees; ++i) {
        for (int j = i + 1; j < trees; ++j) {
            auto m = dater.match(stand[i], stand[j]);
            sumRho += m.rho;
            sumSigma += m.sigma;
            lags += std::abs(m.lag);
            if (j == i + 1)
                std::printf("%s %s lag %+d rho %.5f +- %.5f\n", stand[i].id.c_str(),
                            stand[j].id.c_str(), m.lag, m.rho, m.sigma);
        }
    }
    int pairs = trees * (trees - 1) / 2;
    std::printf("pairs %d  rho %.6f  sigma %.6f  lag %.3f\n", pairs, sumRho / pairs,
                sumSigma / pairs, static_cast<double>(lags) / pairs);
    return 0;
}
