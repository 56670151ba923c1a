#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

using pack = double __attribute__((vector_size(32)));

constexpr pack splat(double v) { return pack{v, v, v, v}; }
inline pack larger(pack a, pack b) { return _mm256_max_pd(a, b); }
inline double total(pack p) { return (p[0] + p[1]) + (p[2] + p[3]); }

constexpr std::size_t width = 8;
constexpr std::size_t packs = width * 80;

struct Channel {
    double gain, offset;
};

template <std::size_t Terms>
class Thermocouple {
    std::array<pack, Terms> coefficient_;

    template <std::size_t... I>
    static void block(const Thermocouple& t, const pack* in, pack gain, pack offset, pack limit, pack& dose,
                      std::index_sequence<I...>)
    {
        pack x[width], y[width];
        ((x[I] = in[I] * gain + offset), ...);
        ((y[I] = x[I] * t.coefficient_[Terms - 1] + t.coefficient_[Terms - 2]), ...);
#pragma GCC unroll 2
        for (std::size_t k = Terms - 2; k > 0; --k) {
            const pack c = t.coefficient_[k - 1];
            ((y[I] = y[I] * x[I] + c), ...);
        }
        ((dose += larger(y[I], limit)), ...);
    }

public:
    explicit Thermocouple(const std::array<double, Terms>& c)
    {
        for (std::size_t k = 0; k < Terms; ++k)
            coefficient_[k] = splat(c[k]);
    }

    double excess(const std::array<pack, packs>& raw, const Channel& ch, double limit) const
    {
        const pack gain = splat(ch.gain), offset = splat(ch.offset), bound = splat(limit);
        pack dose = splat(0.0);
        for (std::size_t i = 0; i < packs; i += width)
            block(*this, raw.data() + i, gain, offset, bound, dose, std::make_index_sequence<width>{});
        return total(dose) - limit * static_cast<double>(4 * packs);
    }
};

class Logger {
    alignas(64) std::array<pack, packs> raw_;
    std::uint64_t state_ = 99;

public:
    const std::array<pack, packs>& read()
    {
        for (auto& p : raw_)
            for (int l = 0; l < 4; ++l) {
                state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
                p[l] = static_cast<double>(state_ >> 11) * 0x1p-53;
            }
        return raw_;
    }
};

template <std::size_t Terms>
double survey(Logger& logger, const Thermocouple<Terms>& sensor, int blocks, int channels)
{
    double dose = 0.0;
    for (int b = 0; b < blocks; ++b) {
        const auto& raw = logger.read();
        for (int c = 0; c < channels; ++c) {
            const Channel ch{0.9 + 0.0001 * c, 0.002 * (c % 11)};
            dose += sensor.excess(raw, ch, 120.0);
        }
    }
    return dose;
}

int main(int argc, char** argv)
{
    const int blocks = argc > 1 ? std::atoi(argv[1]) : 1000;
    const int channels = argc > 2 ? std::atoi(argv[2]) : 600;
    const Thermocouple<14> sensor({0.0, 250.8355, 78.60106, -250.3131, 83.1527, -12.28034, 98.04036, -44.1303,
                                   10.57734, -10.52755, 3.1, -1.7, 0.45, -0.08});
    Logger logger;
    std::printf("dose %.9e\n", survey(logger, sensor, blocks, channels));
}
