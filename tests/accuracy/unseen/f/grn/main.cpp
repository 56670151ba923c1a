// Attractor census of a synchronous Boolean gene-regulatory network (48 genes,
// three inputs each).  Random initial states are iterated until they meet a
// state already seen; new cycles are reported as attractors.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <sys/mman.h>

namespace {

constexpr int kGenes = 48;
constexpr int kBytes = kGenes / 8;
constexpr unsigned kLanes = 32;              // walkers advanced together

inline uint64_t mix(uint64_t h) {
    h ^= h >> 32;
    h *= 0x9fb21c651e98df25ull;
    h ^= h >> 29;
    return h;
}

// Next state = OR over bytes of a table indexed by the permuted state bytes:
// every gene is (a XOR b) or a copy, hence linear, plus a constant.
struct Network {
    uint64_t lut[kBytes][256];
    uint64_t bias;

    explicit Network(uint64_t seed) : bias(0) {
        uint64_t col[kGenes] = {};
        uint64_t s = seed;
        auto rnd = [&s] { s = s * 6364136223846793005ull + 1442695040888963407ull; return s >> 33; };
        for (int g = 0; g < kGenes; ++g) {
            col[rnd() % kGenes] ^= 1ull << g;
            col[rnd() % kGenes] ^= 1ull << g;
            if (rnd() % 3 == 0) col[rnd() % kGenes] ^= 1ull << g;
            if (rnd() & 1) bias |= 1ull << g;
        }
        for (int b = 0; b < kBytes; ++b)
            for (int v = 0; v < 256; ++v) {
                uint64_t r = 0;
                for (int k = 0; k < 8; ++k)
                    if (v >> k & 1) r ^= col[b * 8 + k];
                lut[b][v] = r;
            }
    }

    uint64_t step(uint64_t x) const {
        uint64_t r = bias;
        for (int b = 0; b < kBytes; ++b) r ^= lut[b][x >> (8 * b) & 255];
        return r;
    }
};

// Open addressing in one flat array, key and basin packed in a single word:
// 48 bits of state, 16 bits of walker label (0 marks an empty slot).
class StateTable {
public:
    explicit StateTable(int bits)
        : shift_(64 - bits), mask_((1ull << bits) - 1),
          slot_(static_cast<uint64_t *>(std::aligned_alloc(2ull << 20, sizeof(uint64_t) << bits)), &std::free) {
        madvise(slot_.get(), sizeof(uint64_t) << bits, MADV_HUGEPAGE);
        std::memset(slot_.get(), 0, sizeof(uint64_t) << bits);
    }

    uint64_t home(uint64_t key) const { return mix(key) >> shift_; }
    void prefetch(uint64_t pos) const { __builtin_prefetch(&slot_.get()[pos], 1); }

    // Returns the label stored for the key, or 0 after inserting it.
    unsigned visit(uint64_t key, uint64_t pos, unsigned label) {
        uint64_t *const t = slot_.get();
        for (;; pos = (pos + 1) & mask_) {
            const uint64_t w = t[pos];
            if (w == 0) {
                t[pos] = key << 16 | label;
                ++used_;
                return 0;
            }
            if (w >> 16 == key) return static_cast<unsigned>(w & 0xffff);
        }
    }

    void clear() {
        if (used_) std::memset(slot_.get(), 0, (mask_ + 1) * sizeof(uint64_t));
        used_ = 0;
    }

    uint64_t used() const { return used_; }

private:
    int shift_;
    uint64_t mask_;
    std::unique_ptr<uint64_t, void (*)(void *)> slot_;
    uint64_t used_ = 0;
};

struct Walker {
    uint64_t state, pos;
    unsigned label;
    int left;
};

} // namespace

// Follows all walkers of one network until each has met a known orbit.
static void census(uint64_t id, StateTable &seen) {
    const Network net(20231 + 7 * id);
    const unsigned starts = 24000;
    const int horizon = 400;
    unsigned next = 0, merged = 0, closed = 0, open = 0;
    uint64_t steps = 0, rs = 99 + id;

    auto launch = [&](Walker &w) {
        rs = rs * 6364136223846793005ull + 1442695040888963407ull;
        w.state = rs >> 16;
        w.label = ++next;
        w.left = horizon;
        w.pos = seen.home(w.state);
        seen.prefetch(w.pos);
    };

    seen.clear();
    Walker lane[kLanes];
    for (auto &w : lane) launch(w);
    unsigned active = kLanes;
    while (active > 0) {
        for (unsigned i = 0; i < active; ++i) {
            Walker &w = lane[i];
            const unsigned hit = seen.visit(w.state, w.pos, w.label);
            ++steps;
            if (hit == 0 && --w.left > 0) {
                w.state = net.step(w.state);
                w.pos = seen.home(w.state);
                seen.prefetch(w.pos);
                continue;
            }
            if (hit == 0) ++open;
            else if (hit == w.label) ++closed;
            else ++merged;
            if (next < starts) launch(w);
            else lane[i--] = lane[--active];
        }
    }
    std::printf("network %llu: steps %llu states %llu, own cycle %u, joined %u, beyond horizon %u\n",
                (unsigned long long)id, (unsigned long long)steps, (unsigned long long)seen.used(),
                closed, merged, open);
}

int main() {
    StateTable seen(24);
    for (uint64_t id = 0; id < 16; ++id) census(id, seen);
    return 0;
}
