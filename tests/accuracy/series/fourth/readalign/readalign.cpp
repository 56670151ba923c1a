// Local alignment (affine gaps) of sequencing reads against a set of reference genes.
#include <mpi.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

struct Hit { int read, gene, score; };

static uint64_t lcg(uint64_t &s) { return s = s * 6364136223846793005ULL + 1442695040888963407ULL, s >> 33; }

__attribute__((noinline)) std::vector<std::string> make_genes(int n, int length) {
    uint64_t s = 11;
    std::vector<std::string> g(n);
    for (auto &x : g)
        for (int i = 0; i < length; ++i) x += "ACGT"[lcg(s) & 3];
    return g;
}

__attribute__((noinline)) std::vector<std::string> make_reads(int n, const std::vector<std::string> &genes) {
    uint64_t s = 23;
    std::vector<std::string> r(n);
    for (int k = 0; k < n; ++k) {
        const std::string &g = genes[lcg(s) % genes.size()];
        int len = 40 + int(lcg(s) % 360);
        r[k] = g.substr(lcg(s) % (g.size() - len), len);
        for (int m = 0; m < len / 20; ++m) r[k][lcg(s) % len] = "ACGT"[lcg(s) & 3];
    }
    std::sort(r.begin(), r.end(), [](const std::string &a, const std::string &b) { return a.size() > b.size(); });
    return r;
}

__attribute__((noinline)) int align(const std::string &a, const std::string &b, std::vector<int> &h, std::vector<int> &e) {
    const int open = 5, extend = 1;
    h.assign(b.size() + 1, 0);
    e.assign(b.size() + 1, -open);
    int best = 0;
    for (size_t i = 1; i <= a.size(); ++i) {
        int diag = 0, f = -open;
        for (size_t j = 1; j <= b.size(); ++j) {
            e[j] = std::max(e[j] - extend, h[j] - open);
            f = std::max(f - extend, h[j - 1] - open);
            int v = std::max({0, diag + (a[i - 1] == b[j - 1] ? 2 : -3), e[j], f});
            diag = h[j];
            h[j] = v;
            best = std::max(best, v);
        }
    }
    return best;
}

__attribute__((noinline)) void align_range(const std::vector<std::string> &reads, const std::vector<std::string> &genes,
                                           int lo, int hi, std::vector<Hit> &hits) {
    std::vector<int> h, e;
    for (int k = lo; k < hi; ++k) {
        Hit best = {k, -1, 0};
        for (size_t g = 0; g < genes.size(); ++g) {
            int s = align(reads[k], genes[g], h, e);
            if (s > best.score) best = {k, int(g), s};
        }
        hits.push_back(best);
    }
}

__attribute__((noinline)) std::vector<int> coverage(const std::vector<Hit> &hits, int ngene) {
    std::vector<int> c(ngene), all(ngene);
    for (auto &x : hits) if (x.gene >= 0) c[x.gene] += x.score;
    MPI_Reduce(c.data(), all.data(), ngene, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    auto genes = make_genes(4, 1200);
    auto reads = make_reads(360, genes);
    int n = int(reads.size()), lo = n * rank / size, hi = n * (rank + 1) / size;
    std::vector<Hit> hits;
    align_range(reads, genes, lo, hi, hits);
    auto cov = coverage(hits, int(genes.size()));
    if (rank == 0)
        for (size_t g = 0; g < genes.size(); ++g) std::printf("gene %zu score %d\n", g, cov[g]);
    MPI_Finalize();
    return 0;
}
