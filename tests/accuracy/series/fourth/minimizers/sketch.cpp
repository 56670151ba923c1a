// Minimizer sketch of a simulated genome plus mapping of error-prone reads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static const int K = 19, W = 11;

static uint64_t rstate = 88172645463325252ull;
static inline uint64_t rnd() { rstate ^= rstate << 13; rstate ^= rstate >> 7; rstate ^= rstate << 17; return rstate; }

static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 33; x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ (x >> 33);
}

class SeedIndex {
public:
    SeedIndex() : head_(1u << BITS, -1) {}
    void add(uint64_t key, uint32_t pos);
    int find(uint64_t key) const;
    size_t size() const { return seeds_.size(); }
private:
    static const unsigned BITS = 8;
    struct Seed { uint64_t key; uint32_t pos; int next; };
    std::vector<int> head_;
    std::vector<Seed> seeds_;
};

__attribute__((noinline)) void SeedIndex::add(uint64_t key, uint32_t pos)
{
    unsigned b = unsigned(key & ((1u << BITS) - 1));
    seeds_.push_back({key, pos, head_[b]});
    head_[b] = int(seeds_.size()) - 1;
}

__attribute__((noinline)) int SeedIndex::find(uint64_t key) const
{
    for (int i = head_[key & ((1u << BITS) - 1)]; i >= 0; i = seeds_[i].next)
        if (seeds_[i].key == key) return int(seeds_[i].pos);
    return -1;
}

__attribute__((noinline)) std::string simulate_genome(int n)
{
    std::string g(n, 'A');
    for (int i = 0; i < n; ++i) g[i] = "ACGT"[rnd() >> 62];
    return g;
}

__attribute__((noinline)) void minimizers(const char* s, int len, std::vector<std::pair<uint64_t, int>>& out)
{
    out.clear();
    uint64_t ring[W], kmer = 0;
    const uint64_t mask = (1ull << (2 * K)) - 1;
    int last = -1;
    for (int i = 0; i < len; ++i) {
        kmer = ((kmer << 2) | ((s[i] >> 1) & 3)) & mask;
        ring[i % W] = mix(kmer);
        if (i < K + W) continue;
        int best = i;
        for (int j = i - W + 1; j <= i; ++j)
            if (ring[j % W] < ring[best % W]) best = j;
        if (best != last) { out.push_back({mix(ring[best % W]), best}); last = best; }
    }
}

__attribute__((noinline)) void make_read(const std::string& g, int start, int len, std::string& r)
{
    r.assign(g, start, len);
    for (int i = 0; i < len; ++i)
        if (rnd() % 100 < 3) r[i] = "ACGT"[rnd() >> 62];
}

__attribute__((noinline)) int extend(const std::string& g, const std::string& r, int start)
{
    const int band = 8;
    int best = 0;
    for (int d = -band; d <= band; ++d) {
        int score = 0, top = 0;
        for (size_t i = 0; i < r.size(); ++i) {
            long p = long(start) + d + long(i);
            if (p < 0 || p >= long(g.size())) continue;
            score += g[p] == r[i] ? 1 : -3;
            if (score < 0) score = 0;
            if (score > top) top = score;
        }
        if (top > best) best = top;
    }
    return best;
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 200000;
    const int rlen = 300, nreads = 3 * n / rlen;
    std::string genome = simulate_genome(n), read;
    std::vector<std::pair<uint64_t, int>> mins;
    SeedIndex index;
    minimizers(genome.data(), n, mins);
    for (auto& m : mins) index.add(m.first, uint32_t(m.second));

    long mapped = 0, score = 0;
    for (int k = 0; k < nreads; ++k) {
        make_read(genome, int(rnd() % uint64_t(n - rlen)), rlen, read);
        minimizers(read.data(), rlen, mins);
        int best = 0;
        for (size_t j = 0; j < mins.size(); j += 4) {
            int pos = index.find(mins[j].first);
            if (pos < 0) continue;
            int s = extend(genome, read, pos - mins[j].second);
            if (s > best) best = s;
        }
        if (best > 40) { ++mapped; score += best; }
    }
    std::printf("seeds %zu  reads %d  mapped %ld  mean score %.2f\n", index.size(), nreads, mapped,
                mapped ? double(score) / mapped : 0.0);
}
