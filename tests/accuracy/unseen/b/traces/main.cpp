#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

struct Trace {
    int station = 0;
    std::vector<float> samples;
};

template <class T>
class Channel {
public:
    explicit Channel(std::size_t depth) : depth_(depth) {}

    void push(T item)
    {
        std::unique_lock<std::mutex> hold(guard_);
        while (items_.size() >= depth_)
            room_.wait_for(hold, std::chrono::milliseconds(1));
        items_.push_back(std::move(item));
        ready_.notify_one();
    }

    bool pop(T& item)
    {
        std::unique_lock<std::mutex> hold(guard_);
        ready_.wait(hold, [this] { return !items_.empty() || closed_; });
        if (items_.empty())
            return false;
        item = std::move(items_.front());
        items_.pop_front();
        return true;
    }

    void close()
    {
        std::lock_guard<std::mutex> hold(guard_);
        closed_ = true;
        ready_.notify_all();
    }

private:
    const std::size_t depth_;
    std::deque<T> items_;
    std::mutex guard_;
    std::condition_variable ready_, room_;
    bool closed_ = false;
};

class Station {
public:
    Station(int id, int samples) : id_(id), samples_(samples), state_(std::uint32_t(id) * 2654435761u + 1u) {}

    Trace record()
    {
        Trace t;
        t.station = id_;
        t.samples.resize(samples_);
        for (float& v : t.samples) {
            state_ = state_ * 1664525u + 1013904223u;
            v = float(std::int32_t(state_)) * (1.0f / 2147483648.0f);
        }
        const int onset = int(state_ >> 8) % samples_;
        for (int i = onset; i < samples_ && i < onset + 200; ++i)
            t.samples[i] *= 9.0f;
        return t;
    }

private:
    int id_, samples_;
    std::uint32_t state_;
};

class Picker {
public:
    void examine(const Trace& t)
    {
        double brief = 0, steady = 0.33, best = 0;
        int when = -1;
        for (std::size_t i = 0; i < t.samples.size(); ++i) {
            const double e = double(t.samples[i]) * t.samples[i];
            brief += 0.05 * (e - brief);
            steady += 0.002 * (e - steady);
            const double ratio = brief / (steady + 1e-3);
            if (ratio > best) {
                best = ratio;
                when = int(i);
            }
        }
        if (best > 4) {
            ++picks_;
            moment_ += when * (1 + t.station % 7);
        }
        loudest_ = std::fmax(loudest_, best);
    }

    void print() const { std::printf("picks %ld\nmoment %lld\nloudest %.9f\n", picks_, moment_, loudest_); }

private:
    long picks_ = 0;
    long long moment_ = 0;
    double loudest_ = 0;
};

static void acquire(Channel<Trace>& line, int stations, int rounds, int samples)
{
    std::vector<Station> network;
    for (int s = 0; s < stations; ++s)
        network.emplace_back(s, samples);
    for (int r = 0; r < rounds; ++r)
        for (Station& s : network)
            line.push(s.record());
    line.close();
}

int main(int argc, char** argv)
{
    const int stations = argc > 1 ? std::atoi(argv[1]) : 24;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 400;
    const int samples = argc > 3 ? std::atoi(argv[3]) : 8192;
    Channel<Trace> line(6);
    Picker picker;
    std::thread field([&] { acquire(line, stations, rounds, samples); });
    Trace t;
    while (line.pop(t))
        picker.examine(t);
    field.join();
    picker.print();
    return 0;
}
