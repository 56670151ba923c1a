// kmerdict: count k-mers of simulated short reads and align each read to its origin
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <algorithm>

static uint64_t rng_state = 88172645463325252ULL;
static inline uint64_t rnd() {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

constexpr int K = 21;
constexpr int READ_LEN = 80;
constexpr int COVERAGE = 4;

struct Node {
    uint64_t key;
    uint32_t count;
    int32_t next;
};

class KmerTable {
public:
    KmerTable() : heads(8192, -1) {}
    __attribute__((noinline)) void add(uint64_t key);
    __attribute__((noinline)) std::vector<uint32_t> spectrum(int maxcount) const;
    size_t distinct() const { return nodes.size(); }
private:
    std::vector<int32_t> heads;
    std::vector<Node> nodes;
};

void KmerTable::add(uint64_t key) {
    uint64_t h = key * 0x9E3779B97F4A7C15ULL;
    size_t b = (h >> 40) % heads.size();
    for (int32_t i = heads[b]; i >= 0; i = nodes[i].next) {
        if (nodes[i].key == key) {
            nodes[i].count++;
            return;
        }
    }
    nodes.push_back({key, 1, heads[b]});
    heads[b] = (int32_t)nodes.size() - 1;
}

std::vector<uint32_t> KmerTable::spectrum(int maxcount) const {
    std::vector<uint32_t> hist(maxcount + 1, 0);
    for (const Node &nd : nodes) hist[std::min<uint32_t>(nd.count, maxcount)]++;
    return hist;
}

__attribute__((noinline)) std::string make_genome(size_t len) {
    static const char acgt[] = "ACGT";
    std::string g(len, 'A');
    for (auto &c : g) c = acgt[rnd() >> 62];
    return g;
}

__attribute__((noinline)) void sequence_read(const std::string &genome, size_t pos, char *read) {
    static const char acgt[] = "ACGT";
    for (int i = 0; i < READ_LEN; i++) {
        read[i] = genome[pos + i];
        if (rnd() % 1000 < 2) read[i] = acgt[rnd() >> 62];
    }
}

static inline uint64_t code(char c) { return (c >> 1) & 3; }

__attribute__((noinline)) void count_read(KmerTable &table, const char *read) {
    const uint64_t mask = (1ULL << (2 * K)) - 1;
    uint64_t kmer = 0;
    for (int i = 0; i < READ_LEN; i++) {
        kmer = ((kmer << 2) | code(read[i])) & mask;
        if (i >= K - 1) table.add(kmer);
    }
}

// Smith-Waterman score with linear gap cost
__attribute__((noinline)) int align_read(const char *read, const char *ref, int reflen) {
    int row[2 * READ_LEN + 1] = {0};
    int best = 0;
    for (int i = 0; i < READ_LEN; i++) {
        int diag = 0;
        for (int j = 1; j <= reflen; j++) {
            int s = diag + (read[i] == ref[j - 1] ? 2 : -3);
            diag = row[j];
            s = std::max(s, std::max(row[j], row[j - 1]) - 4);
            row[j] = std::max(s, 0);
            best = std::max(best, row[j]);
        }
    }
    return best;
}

int main(int argc, char **argv) {
    size_t nreads = argc > 1 ? strtoul(argv[1], nullptr, 10) : 2000;
    size_t glen = nreads * READ_LEN / COVERAGE + 2 * READ_LEN;
    std::string genome = make_genome(glen);
    KmerTable table;
    long score = 0;
    char read[READ_LEN];
    for (size_t r = 0; r < nreads; r++) {
        size_t pos = rnd() % (glen - 2 * READ_LEN);
        sequence_read(genome, pos, read);
        count_read(table, read);
        score += align_read(read, genome.data() + pos, READ_LEN + 40);
    }
    auto hist = table.spectrum(8);
    printf("reads %zu  distinct k-mers %zu  mean score %.2f\n", nreads, table.distinct(), (double)score / nreads);
    for (size_t c = 1; c < hist.size(); c++) printf("%zu:%u ", c, hist[c]);
    printf("\n");
    return 0;
}
