// Teleconnection map from a gridded anomaly archive: rows are months, columns are grid points.
// usage: main [months] [points] [sweeps]
#include <Eigen/Dense>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using Archive = Eigen::MatrixXd;
using Eigen::Index;
using Eigen::VectorXd;

template <class Body>
void eachMonth(Index months, Body&& body) {
    tbb::parallel_for(tbb::blocked_range<Index>(0, months, 16), [&](const tbb::blocked_range<Index>& r) {
        for (Index t = r.begin(); t != r.end(); ++t) body(t);
    });
}

class Analysis {
public:
    Analysis(Index months, Index points) : field_(months, points), weight_(points) {
        for (Index p = 0; p < points; ++p) weight_[p] = std::cos((double(p) / double(points) - 0.5) * 3.0);
        weight_ /= weight_.sum();
    }

    void synthesise() {
        tbb::parallel_for(tbb::blocked_range<Index>(0, field_.cols(), 64), [this](const tbb::blocked_range<Index>& r) {
            for (Index p = r.begin(); p != r.end(); ++p) {
                std::uint32_t s = 0x9e3779b9u * static_cast<std::uint32_t>(p + 1) | 1u;
                const double shape = std::sin(0.013 * double(p));
                double red = 0.0;
                for (Index t = 0; t < field_.rows(); ++t) {
                    s = s * 1664525u + 1013904223u;
                    red = 0.6 * red + (double(s >> 8) / 16777216.0 - 0.5);
                    field_(t, p) = red + shape * season_[t % 12];
                }
            }
        });
    }

    // one power sweep towards the leading pattern
    double sweep(VectorXd& pattern) {
        VectorXd index(field_.rows());
        eachMonth(field_.rows(), [&](Index t) {
            index[t] = project(t, pattern);
        });
        const double amplitude = index.norm();
        index /= amplitude;
        eachMonth(field_.rows(), [&](Index t) { damp(t, pattern, 0.05 * amplitude * index[t]); });
        return amplitude;
    }

    void centre() {
        eachMonth(field_.rows(), [this](Index t) {
            auto month = field_.row(t);
            const double mean = month.dot(weight_.transpose());
            month.array() -= mean;
        });
    }

    double variance() const { return field_.squaredNorm() / double(field_.size()); }
    Index points() const { return field_.cols(); }

private:
    double project(Index t, const VectorXd& pattern) const {
        return field_.row(t).cwiseProduct(weight_.transpose()).dot(pattern.transpose());
    }

    void damp(Index t, const VectorXd& pattern, double amount) {
        field_.row(t) -= amount * pattern.transpose();
    }

    Archive field_;
    VectorXd weight_;
    const double season_[12] = {1.0, 0.8, 0.4, 0.0, -0.5, -0.8, -1.0, -0.8, -0.4, 0.0, 0.5, 0.8};
};

int main(int argc, char** argv) {
    const Index months = argc > 1 ? std::atol(argv[1]) : 1536;
    const Index points = argc > 2 ? std::atol(argv[2]) : 10000;
    const int sweeps = argc > 3 ? std::atoi(argv[3]) : 8;

    Analysis analysis(months, points);
    analysis.synthesise();
    std::printf("%ld months, %ld points, variance %.8f\n", long(months), long(points), analysis.variance());

    VectorXd pattern = VectorXd::NullaryExpr(points, [](Index p) { return std::sin(0.013 * double(p)) + 0.2; });
    pattern.normalize();
    for (int s = 0; s < sweeps; ++s) {
        analysis.centre();
        const double a = analysis.sweep(pattern);
        std::printf("sweep %2d amplitude %.8f\n", s + 1, a);
    }
    std::printf("remaining variance %.8f\n", analysis.variance());
    return 0;
}
