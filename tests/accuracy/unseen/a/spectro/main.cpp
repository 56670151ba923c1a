#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

struct Line {
    std::string element;
    std::size_t channel;
    std::size_t half_width;
};

class Spectrum {
public:
    Spectrum(int id, std::vector<double> counts) : id_(id), counts_(std::move(counts)) {}
    int id() const { return id_; }
    std::vector<double> counts() const { return counts_; }
    std::size_t channels() const { return counts_.size(); }

private:
    int id_;
    std::vector<double> counts_;
};

class Detector {
public:
    Detector(std::size_t channels, std::uint32_t seed) : channels_(channels), state_(seed) {}

    Spectrum measure(int id, const std::vector<Line>& lines)
    {
        std::vector<double> counts(channels_);
        for (std::size_t c = 0; c < channels_; ++c)
            counts[c] = 40.0 + 5.0 * noise();
        for (const auto& line : lines) {
            const double height = 200.0 * (0.5 + noise());
            for (std::size_t c = line.channel - line.half_width; c <= line.channel + line.half_width; ++c) {
                const double u = (double(c) - double(line.channel)) / (0.5 * double(line.half_width));
                counts[c] += height * std::exp(-u * u);
            }
        }
        return Spectrum(id, std::move(counts));
    }

private:
    double noise()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return (state_ >> 8) / 16777216.0;
    }
    std::size_t channels_;
    std::uint32_t state_;
};

double background(const Spectrum& s, const Line& line)
{
    const auto& counts = s.counts();
    const std::size_t lo = line.channel - 2 * line.half_width;
    const std::size_t hi = line.channel + 2 * line.half_width;
    double sum = 0.0;
    for (std::size_t k = 0; k < line.half_width; ++k)
        sum += counts[lo + k] + counts[hi - k];
    return sum / (2.0 * double(line.half_width));
}

double net_area(const Spectrum& s, const Line& line)
{
    const double base = background(s, line);
    const auto& counts = s.counts();
    double area = 0.0;
    for (std::size_t c = line.channel - line.half_width; c <= line.channel + line.half_width; ++c)
        area += std::max(0.0, counts[c] - base);
    return area;
}

template <class Samples, class Measure>
auto tabulate(const Samples& samples, const std::vector<Line>& lines, Measure measure)
{
    std::vector<std::pair<double, double>> table;
    for (const auto& line : lines) {
        double sum = 0.0;
        double square = 0.0;
        for (const auto& s : samples) {
            const double v = measure(s, line);
            sum += v;
            square += v * v;
        }
        const double n = double(samples.size());
        table.emplace_back(sum / n, std::sqrt(std::max(0.0, square / n - sum / n * (sum / n))));
    }
    return table;
}

int main(int argc, char** argv)
{
    const int samples = argc > 1 ? std::atoi(argv[1]) : 1500;
    const std::size_t channels = argc > 2 ? std::atoi(argv[2]) : 8192;
    const int drifts = argc > 3 ? std::atoi(argv[3]) : 20;
    std::vector<Line> lines;
    const std::vector<std::string> names{"Na", "Mg", "Al", "Si", "K", "Ca", "Ti", "Mn", "Fe", "Ni", "Cu", "Zn"};
    for (std::size_t k = 0; k < names.size(); ++k)
        lines.push_back({names[k], (k + 1) * channels / (names.size() + 2), 40 + 4 * k});
    Detector detector(channels, 12345u);
    std::vector<Spectrum> archive;
    archive.reserve(samples);
    for (int i = 0; i < samples; ++i)
        archive.push_back(detector.measure(i, lines));
    std::cout << std::fixed << std::setprecision(4);
    for (int drift = 0; drift < drifts; ++drift) {
        const auto table = tabulate(archive, lines, net_area);
        std::cout << "drift " << drift << '\n';
        for (std::size_t k = 0; k < lines.size(); ++k)
            std::cout << lines[k].element << ' ' << table[k].first << " +- " << table[k].second << '\n';
        for (auto& line : lines)
            ++line.channel;
    }
    return 0;
}
