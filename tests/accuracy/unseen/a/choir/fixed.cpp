#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

class Recording {
    MPI_Comm comm_;
    std::vector<double> samples_;
    std::array<double, 2> tally_{};

public:
    Recording(MPI_Comm comm, std::size_t length) : comm_(comm), samples_(length) {}

    template <class Source>
    void capture(Source&& source)
    {
        std::generate(samples_.begin(), samples_.end(), source);
        tally_[0] = std::accumulate(samples_.begin(), samples_.end(), 0.0);
        tally_[1] = static_cast<double>(samples_.size());
    }

    double baseline() const
    {
        std::array<double, 2> all{};
        MPI_Allreduce(tally_.data(), all.data(), 2, MPI_DOUBLE, MPI_SUM, comm_);
        return all[0] / all[1];
    }

    const std::vector<double>& samples() const { return samples_; }
    std::size_t length() const { return samples_.size(); }
};

class Hydrophone {
    std::uint64_t state_;
    double phase_ = 0.0;
    double step_;
    double offset_;

public:
    Hydrophone(int index, double step) : state_(1000 + index), step_(step), offset_(0.3 + 0.2 * index) {}

    double operator()()
    {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        phase_ += step_;
        if (phase_ > 1.0)
            phase_ -= 2.0;
        const double tone = 4.0 * phase_ * (1.0 - std::fabs(phase_));
        return offset_ + tone + static_cast<double>(state_ >> 40) * 0x1p-25;
    }
};

class Window {
    std::vector<double> weight_;

public:
    explicit Window(std::size_t length) : weight_(length)
    {
        for (std::size_t i = 0; i < length; ++i) {
            const double u = (2.0 * i + 1.0) / length - 1.0;
            weight_[i] = 1.0 - u * u;
        }
    }
    double operator[](std::size_t i) const { return weight_[i]; }
};

void prepare(const Recording& recording, const Window& window, std::vector<double>& out)
{
    const auto& in = recording.samples();
    const double baseline = recording.baseline();
    for (std::size_t i = 0; i < in.size(); ++i)
        out[i] = window[i] * (in[i] - baseline);
}

void correlate(const std::vector<double>& signal, std::vector<double>& lags)
{
    for (std::size_t lag = 0; lag < lags.size(); ++lag) {
        const std::size_t n = signal.size() - lag;
        lags[lag] += std::inner_product(signal.begin(), signal.begin() + n, signal.begin() + lag, 0.0);
    }
}

std::size_t strongest(const std::vector<double>& lags, std::size_t first)
{
    const auto at = std::max_element(lags.begin() + first, lags.end());
    return static_cast<std::size_t>(at - lags.begin());
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::size_t length = argc > 1 ? std::atoi(argv[1]) : 8192;
    const int shots = argc > 2 ? std::atoi(argv[2]) : 350;

    Recording recording(MPI_COMM_WORLD, length);
    Hydrophone phone(rank, 0.021);
    const Window window(length);
    std::vector<double> signal(length), lags(640, 0.0), sum(640, 0.0);

    for (int shot = 0; shot < shots; ++shot) {
        recording.capture(phone);
        prepare(recording, window, signal);
        correlate(signal, lags);
    }

    MPI_Reduce(lags.data(), sum.data(), static_cast<int>(lags.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        const auto lag = strongest(sum, 40);
        std::printf("energy %.6f lag %zu ratio %.9f\n", sum[0], lag, sum[lag] / sum[0]);
    }
    MPI_Finalize();
}
