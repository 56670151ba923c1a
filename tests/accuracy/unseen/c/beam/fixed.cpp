#include <mpi.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace structure {

class Team {
public:
    Team(int &argc, char **&argv)
    {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    ~Team() { MPI_Finalize(); }
    Team(const Team &) = delete;
    Team &operator=(const Team &) = delete;
    int rank() const { return rank_; }
    int size() const { return size_; }
    bool leader() const { return rank_ == 0; }

    double total(double x) const
    {
        double y = 0.0;
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return y;
    }

private:
    int rank_ = 0;
    int size_ = 1;
};

class Deflection {
public:
    Deflection(const Team &team, int length)
        : team_(team), part_(length / team.size()), first_(part_ * team.rank()),
          line_(static_cast<std::size_t>(part_) * team.size() + 4, 0.0),
          now_(part_, 0.0), old_(part_, 0.0)
    {
    }

    template <class Shape> void start(Shape shape)
    {
        const double n = static_cast<double>(part_) * team_.size();
        for (int i = 0; i < part_; ++i)
            now_[i] = old_[i] = shape((first_ + i + 0.5) / n);
    }

    void step(double stiffness, double damping)
    {
        refresh();
        const double *w = line_.data() + 2 + first_;
        for (int i = 0; i < part_; ++i) {
            const double bend = w[i - 2] - 4.0 * w[i - 1] + 6.0 * w[i] - 4.0 * w[i + 1] + w[i + 2];
            old_[i] = (2.0 - damping) * now_[i] - (1.0 - damping) * old_[i] - stiffness * bend;
        }
        std::swap(now_, old_);
    }

    double energy() const
    {
        double e = 0.0;
        for (int i = 0; i < part_; ++i) {
            const double v = now_[i] - old_[i];
            e += v * v;
        }
        return team_.total(e);
    }

    double sag() const
    {
        double s = 0.0;
        for (double x : now_)
            s += x;
        return team_.total(s) / (static_cast<double>(part_) * team_.size());
    }

private:
    void refresh()
    {
        double *w = line_.data() + 2 + first_;
        std::copy(now_.begin(), now_.end(), w);
        const int left = team_.rank() > 0 ? team_.rank() - 1 : MPI_PROC_NULL;
        const int right = team_.rank() + 1 < team_.size() ? team_.rank() + 1 : MPI_PROC_NULL;
        MPI_Sendrecv(w + part_ - 2, 2, MPI_DOUBLE, right, 0, w - 2, 2, MPI_DOUBLE, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(w, 2, MPI_DOUBLE, left, 1, w + part_, 2, MPI_DOUBLE, right, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    const Team &team_;
    int part_;
    int first_;
    std::vector<double> line_;
    std::vector<double> now_;
    std::vector<double> old_;
};

}

int main(int argc, char **argv)
{
    structure::Team team(argc, argv);
    const int length = argc > 1 ? std::atoi(argv[1]) : 100000;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 1000;
    structure::Deflection beam(team, length);
    beam.start([](double x) { return std::sin(3.0 * M_PI * x) * x * (1.0 - x); });
    for (int t = 1; t <= steps; ++t) {
        beam.step(0.05, 1e-4);
        if (t % 1000 == 0) {
            const double e = beam.energy();
            const double s = beam.sag();
            if (team.leader())
                std::printf("%d energy %.10e sag %.10e\n", t, e, s);
        }
    }
    return 0;
}
