// K-mer abundance spectra of a read set for several k, to choose the k of an
// assembly. Canonical k-mers are scattered to partitions by hash, then every
// partition is counted in a table that stays in cache.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace kspec {

using Kmer = std::uint64_t;

class Xoshiro {
public:
    explicit Xoshiro(std::uint64_t seed)
    {
        for (auto& s : s_) s = seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    }
    std::uint64_t operator()()
    {
        const std::uint64_t r = s_[0] + s_[3], t = s_[1] << 17;
        s_[2] ^= s_[0];
        s_[3] ^= s_[1];
        s_[1] ^= s_[2];
        s_[0] ^= s_[3];
        s_[2] ^= t;
        s_[3] = s_[3] << 45 | s_[3] >> 19;
        return r;
    }
    std::uint32_t below(std::uint32_t n) { return std::uint32_t(((*this)() >> 32) * n >> 32); }

private:
    std::array<std::uint64_t, 4> s_;
};

struct ReadSet {
    std::size_t length, count;
    std::vector<std::uint8_t> base;  // 0..3, reads back to back
};

ReadSet sequence(std::uint32_t genomeLength, std::size_t length, std::size_t count, Xoshiro& rng)
{
    std::vector<std::uint8_t> genome(genomeLength);
    for (auto& b : genome) b = rng() >> 62;
    for (int k = 0; k < 40; ++k)  // repeats
        std::memcpy(&genome[rng.below(genomeLength - 3000)], &genome[1000], 2000);
    ReadSet r{length, count, std::vector<std::uint8_t>(length * count)};
    for (std::size_t i = 0; i < count; ++i) {
        std::uint8_t* out = &r.base[i * length];
        const std::uint32_t at = rng.below(genomeLength - std::uint32_t(length));
        std::memcpy(out, &genome[at], length);
        if (rng() >> 63) {
            std::reverse(out, out + length);
            for (std::size_t j = 0; j < length; ++j) out[j] = 3 - out[j];
        }
        for (int e = rng.below(3); e > 0; --e) out[rng.below(std::uint32_t(length))] ^= 1 + rng.below(3);
    }
    return r;
}

// Invertible mixing, so the hash itself identifies the k-mer.
inline std::uint64_t mix(std::uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x * 0xd6e8feb86659fd93ULL;
}

template <typename Sink>
void forEachKmer(const ReadSet& reads, unsigned k, Sink&& sink)
{
    const Kmer mask = (Kmer(1) << 2 * k) - 1;
    const unsigned top = 2 * (k - 1);
    for (std::size_t i = 0; i < reads.count; ++i) {
        const std::uint8_t* b = &reads.base[i * reads.length];
        Kmer fwd = 0, rev = 0;
        for (std::size_t j = 0; j < k - 1; ++j) {
            fwd = fwd << 2 | b[j];
            rev = rev >> 2 | Kmer(3 - b[j]) << top;
        }
        for (std::size_t j = k - 1; j < reads.length; ++j) {
            fwd = (fwd << 2 | b[j]) & mask;
            rev = rev >> 2 | Kmer(3 - b[j]) << top;
            sink(mix(std::min(fwd, rev)));
        }
    }
}

class Partitions {
public:
    static constexpr unsigned kBits = 9;
    static constexpr std::size_t kParts = std::size_t(1) << kBits;

    explicit Partitions(std::size_t capacity) : keys_(new std::uint64_t[capacity]) {}

    void scatter(const ReadSet& reads, unsigned k)
    {
        std::array<std::size_t, kParts + 1> start{};
        forEachKmer(reads, k, [&](std::uint64_t h) { ++start[(h >> (64 - kBits)) + 1]; });
        for (std::size_t p = 0; p < kParts; ++p) start[p + 1] += start[p];
        bounds_ = start;
        std::uint64_t* const keys = keys_.get();
        forEachKmer(reads, k, [&](std::uint64_t h) { keys[start[h >> (64 - kBits)]++] = h; });
    }
    const std::uint64_t* begin(std::size_t p) const { return keys_.get() + bounds_[p]; }
    const std::uint64_t* end(std::size_t p) const { return keys_.get() + bounds_[p + 1]; }

private:
    std::unique_ptr<std::uint64_t[]> keys_;
    std::array<std::size_t, kParts + 1> bounds_{};
};

class CountTable {
public:
    static constexpr unsigned kSlotBits = 15;
    static constexpr std::size_t kMask = (std::size_t(1) << kSlotBits) - 1;

    CountTable() : key_(kMask + 1), count_(kMask + 1) {}

    std::size_t count(const std::uint64_t* first, const std::uint64_t* last)
    {
        std::fill(count_.begin(), count_.end(), 0u);
        std::size_t used = 0;
        for (; first != last; ++first) {
            const std::uint64_t h = *first;
            std::size_t s = (h >> (64 - Partitions::kBits - kSlotBits)) & kMask;
            while (count_[s] != 0 && key_[s] != h) s = (s + 1) & kMask;
            key_[s] = h;
            used += count_[s]++ == 0;
        }
        return used;
    }
    const std::vector<std::uint32_t>& counts() const { return count_; }

private:
    std::vector<std::uint64_t> key_;
    std::vector<std::uint32_t> count_;
};

}  // namespace kspec

int main(int argc, char** argv)
{
    using namespace kspec;
    const std::size_t reads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300000;
    Xoshiro rng(31337);
    const ReadSet set = sequence(2000000, 150, reads, rng);
    Partitions parts(set.base.size());
    CountTable table;
    for (unsigned k : {17u, 19u, 21u, 23u, 25u, 27u, 29u, 31u}) {
        parts.scatter(set, k);
        std::array<std::array<std::size_t, 64>, 4> lanes{};
        std::size_t distinct = 0;
        for (std::size_t p = 0; p < Partitions::kParts; ++p) {
            distinct += table.count(parts.begin(p), parts.end(p));
            const auto& c = table.counts();
            for (std::size_t i = 0; i < c.size(); i += 4)
                for (std::size_t lane = 0; lane < 4; ++lane) ++lanes[lane][std::min(c[i + lane], 63u)];
        }
        std::array<std::size_t, 64> spectrum{};
        for (const auto& lane : lanes)
            for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] += lane[i];
        const auto peak = std::max_element(spectrum.begin() + 4, spectrum.end() - 1);
        std::printf("k %2u  distinct %zu  singletons %zu  peak depth %td  at peak %zu\n", k, distinct, spectrum[1],
                    peak - spectrum.begin(), *peak);
    }
}
