#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Peak {
    float mz;
    float height;
};

struct Spectrum {
    std::string name;
    float precursor = 0;
    std::vector<Peak> peaks;
};

class Random {
public:
    explicit Random(uint64_t s) : s_(s) {}
    uint32_t word()
    {
        s_ = s_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return uint32_t(s_ >> 33);
    }
    float real() { return float(word() & 0xffffff) / 16777216.0f; }

private:
    uint64_t s_;
};

class Library {
public:
    void add(Spectrum s) { items_.push_back(std::move(s)); }
    std::size_t size() const { return items_.size(); }
    const Spectrum &entry(std::size_t i) const { return items_[i]; }

private:
    std::vector<Spectrum> items_;
};

static Spectrum make_spectrum(Random &rng, int number, int npeaks)
{
    Spectrum s;
    s.name = "compound-" + std::to_string(number);
    s.precursor = 200.0f + 800.0f * rng.real();
    s.peaks.reserve(npeaks);
    for (int i = 0; i < npeaks; i++)
        s.peaks.push_back({50.0f + 1000.0f * rng.real(), rng.real()});
    std::sort(s.peaks.begin(), s.peaks.end(),
              [](const Peak &a, const Peak &b) { return a.mz < b.mz; });
    return s;
}

static float nearest(const std::vector<Peak> &peaks, float mz, float tol)
{
    auto it = std::lower_bound(peaks.begin(), peaks.end(), mz - tol,
                               [](const Peak &p, float v) { return p.mz < v; });
    float best = 0.0f;
    for (; it != peaks.end() && it->mz <= mz + tol; ++it)
        best = std::max(best, it->height);
    return best;
}

static float similarity(const Spectrum &query, const Spectrum &ref)
{
    float sum = 0.0f;
    for (const Peak &p : query.peaks)
        sum += p.height * nearest(ref.peaks, p.mz, 0.02f);
    return sum;
}

struct Hit {
    std::size_t index = 0;
    float score = -1.0f;
    int candidates = 0;
};

static Hit search(const Library &lib, const Spectrum &query, float window)
{
    Hit hit;
    for (std::size_t i = 0; i < lib.size(); i++) {
        const Spectrum &ref = lib.entry(i);
        if (ref.precursor < query.precursor - window || ref.precursor > query.precursor + window)
            continue;
        hit.candidates++;
        float s = similarity(query, ref);
        if (s > hit.score) {
            hit.score = s;
            hit.index = i;
        }
    }
    return hit;
}

int main(int argc, char **argv)
{
    int nref = argc > 1 ? std::atoi(argv[1]) : 400;
    int nquery = argc > 2 ? std::atoi(argv[2]) : 1200;
    Random rng(2024);
    Library lib;
    for (int i = 0; i < nref; i++)
        lib.add(make_spectrum(rng, i, 6000));
    long candidates = 0;
    double total = 0.0;
    for (int q = 0; q < nquery; q++) {
        Spectrum query = make_spectrum(rng, q, 60);
        Hit h = search(lib, query, 30.0f);
        candidates += h.candidates;
        total += h.score;
        if (q % 300 == 0)
            std::printf("query %d -> %s  %.4f\n", q, lib.entry(h.index).name.c_str(), h.score);
    }
    std::printf("candidates %ld total %.4f\n", candidates, total);
    return 0;
}
