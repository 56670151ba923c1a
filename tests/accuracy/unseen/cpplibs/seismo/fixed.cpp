// Shot gathers are synthesised on one thread and packed with zlib on another, as on a recording vessel.
// usage: main [shots] [samples per gather]
#include <zlib.h>

#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using Samples = std::vector<std::int16_t>;

struct Gather {
    int shot = 0;
    Samples samples;
};

template <class T>
class Channel {
public:
    explicit Channel(std::size_t depth) : depth_(depth) {}

    void put(T item) {
        std::unique_lock<std::mutex> lock(mutex_);
        room_.wait(lock, [this] { return items_.size() < depth_; });
        items_.push_back(std::move(item));
        filled_.notify_one();
    }

    std::optional<T> take() {
        std::unique_lock<std::mutex> lock(mutex_);
        filled_.wait(lock, [this] { return closed_ || !items_.empty(); });
        std::optional<T> item;
        if (items_.empty()) return item;
        item = std::move(items_.front());
        items_.pop_front();
        room_.notify_one();
        return item;
    }

    void close() {
        std::lock_guard<std::mutex> lock(mutex_);
        closed_ = true;
        filled_.notify_one();
    }

private:
    std::size_t depth_;
    std::deque<T> items_;
    bool closed_ = false;
    std::mutex mutex_;
    std::condition_variable room_, filled_;
};

class Source {
public:
    explicit Source(std::size_t length) : length_(length), wavelet_(96) {
        for (std::size_t i = 0; i < wavelet_.size(); ++i) {
            const double a = M_PI * 0.035 * (double(i) - 48.0);
            wavelet_[i] = static_cast<float>((1.0 - 2.0 * a * a) * std::exp(-a * a));
        }
    }

    Gather fire(int shot) const {
        std::vector<float> trace(length_, 0.0f);
        std::uint32_t s = 747796405u * static_cast<std::uint32_t>(shot + 1);
        const std::size_t span = length_ - wavelet_.size();
        for (int event = 0; event < 60; ++event) {
            s = s * 1664525u + 1013904223u;
            const std::size_t arrival = (s >> 8) % span;
            const float amplitude = 1800.0f * std::exp(-3.0f * float(arrival) / float(length_)) * (event & 1 ? -1.0f : 1.0f);
            for (std::size_t i = 0; i < wavelet_.size(); ++i) trace[arrival + i] += amplitude * wavelet_[i];
        }
        Gather g{shot, Samples(length_)};
        for (std::size_t i = 0; i < length_; ++i) {
            s = s * 1664525u + 1013904223u;
            g.samples[i] = static_cast<std::int16_t>(std::lrintf(trace[i] + float(s >> 30)));
        }
        return g;
    }

private:
    std::size_t length_;
    std::vector<float> wavelet_;
};

class Packer {
public:
    void add(const Gather& g) {
        Samples delta(g.samples.size());
        std::int16_t last = 0;
        for (std::size_t i = 0; i < delta.size(); ++i) {
            delta[i] = static_cast<std::int16_t>(g.samples[i] - last);
            last = g.samples[i];
        }
        const uLong raw = static_cast<uLong>(delta.size() * sizeof(std::int16_t));
        buffer_.resize(compressBound(raw));
        uLongf packed = static_cast<uLongf>(buffer_.size());
        if (compress2(buffer_.data(), &packed, reinterpret_cast<const Bytef*>(delta.data()), raw, 1) != Z_OK)
            throw std::runtime_error("compress2");
        raw_ += raw;
        packed_ += packed;
        crc_ = crc32(crc_, buffer_.data(), static_cast<uInt>(packed));
        ++count_;
    }
    void report() const {
        std::printf("%d gathers, %.3f MB packed to %.3f MB, ratio %.4f, crc %08lx\n", count_, 1e-6 * double(raw_), 1e-6 * double(packed_),
                    double(raw_) / double(packed_), crc_);
    }

private:
    std::vector<Bytef> buffer_;
    unsigned long raw_ = 0, packed_ = 0, crc_ = 0;
    int count_ = 0;
};

int main(int argc, char** argv) {
    const int shots = argc > 1 ? std::atoi(argv[1]) : 1000;
    const std::size_t length = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 12000;

    Channel<Gather> channel(2);
    Packer packer;
    std::thread recorder([&] {
        while (auto gather = channel.take()) packer.add(*gather);
    });
    const Source source(length);
    for (int shot = 0; shot < shots; ++shot) channel.put(source.fire(shot));
    channel.close();
    recorder.join();
    packer.report();
    return 0;
}
