// Best local alignment of every database protein against a few queries.
#include <mpi.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Hit { int score; int id; };

unsigned state = 2463534242u;
unsigned draw() { state ^= state << 13; state ^= state >> 17; state ^= state << 5; return state; }

int matrix[20][20];

__attribute__((noinline)) void build_matrix()
{
    for (int a = 0; a < 20; ++a)
        for (int b = a; b < 20; ++b)
            matrix[a][b] = matrix[b][a] = a == b ? 5 + a % 4 : (a / 4 == b / 4 ? 1 : -1 - (a + b) % 3);
}

__attribute__((noinline)) std::string protein(int len)
{
    std::string s(len, 0);
    for (auto& c : s) c = char(draw() % 20);
    return s;
}

__attribute__((noinline)) std::vector<std::string> load_database(int count)
{
    std::vector<std::string> db;
    for (int i = 0; i < count; ++i) {
        int len = 40 + int(draw() % 200);
        while (draw() % 5 < 3 && len < 1600) len += len / 2;
        db.push_back(protein(len));
    }
    std::sort(db.begin(), db.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return db;
}

__attribute__((noinline)) int smith_waterman(const std::string& q, const std::string& t,
                                             std::vector<int>& h, std::vector<int>& e)
{
    const int open = 11, ext = 1;
    int best = 0;
    h.assign(q.size() + 1, 0);
    e.assign(q.size() + 1, 0);
    for (char c : t) {
        const int* row = matrix[int(c)];
        int diag = 0, f = 0;
        for (size_t j = 1; j <= q.size(); ++j) {
            e[j] = std::max(e[j] - ext, h[j] - open);
            f = std::max(f - ext, h[j - 1] - open);
            int s = std::max(std::max(diag + row[int(q[j - 1])], 0), std::max(e[j], f));
            diag = h[j];
            h[j] = s;
            best = std::max(best, s);
        }
    }
    return best;
}

__attribute__((noinline)) Hit scan(const std::vector<std::string>& db, const std::string& q, int rank, int size)
{
    const int per = (int(db.size()) + size - 1) / size;
    const int lo = rank * per, hi = std::min(int(db.size()), lo + per);
    std::vector<int> h, e;
    Hit top{0, -1};
    for (int i = lo; i < hi; ++i) {
        int s = smith_waterman(q, db[i], h, e);
        if (s > top.score) top = {s, i};
    }
    return top;
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    build_matrix();
    std::vector<std::string> db = load_database(360);
    for (int k = 0; k < 6; ++k) {
        std::string q = protein(180 + 20 * k);
        Hit mine = scan(db, q, rank, size), best;
        MPI_Allreduce(&mine, &best, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
        if (rank == 0)
            std::printf("query %d (%zu aa): best %d  subject %d  length %zu\n", k, q.size(), best.score, best.id,
                        db[best.id].size());
    }
    MPI_Finalize();
}
