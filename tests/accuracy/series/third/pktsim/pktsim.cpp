// Packet level simulation of flows over a small backbone network.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace net {

const int NROUTERS = 48;
const int PACKETS_PER_FLOW = 3;

struct Event {
    double when;
    int flow;
    int left;
    Event *next;
};

class Agenda {
    Event *first = nullptr;
public:
    bool empty() const { return first == nullptr; }
    __attribute__((noinline)) void schedule(Event *ev) {
        Event **p = &first;
        while (*p && (*p)->when <= ev->when) p = &(*p)->next;
        ev->next = *p;
        *p = ev;
    }
    Event *pop() {
        Event *ev = first;
        first = ev->next;
        return ev;
    }
};

class Backbone {
    double delay[NROUTERS][NROUTERS];
    double load[NROUTERS];
public:
    explicit Backbone(std::mt19937 &gen) {
        std::uniform_real_distribution<double> u(0.0, 1.0);
        for (int i = 0; i < NROUTERS; i++) {
            load[i] = 0.0;
            for (int j = 0; j < NROUTERS; j++) delay[i][j] = u(gen) < 0.2 ? 1.0 + 9.0 * u(gen) : 1e6;
        }
        for (int i = 0; i < NROUTERS; i++) delay[i][(i + 1) % NROUTERS] = 6.0;
    }
    // least delay path, with queueing proportional to the router's load
    __attribute__((noinline)) double route(int src, int dst) {
        double dist[NROUTERS];
        int via[NROUTERS];
        bool done[NROUTERS] = {false};
        for (int i = 0; i < NROUTERS; i++) { dist[i] = 1e9; via[i] = -1; }
        dist[src] = 0.0;
        for (int k = 0; k < NROUTERS; k++) {
            int u = -1;
            for (int i = 0; i < NROUTERS; i++)
                if (!done[i] && (u < 0 || dist[i] < dist[u])) u = i;
            done[u] = true;
            for (int v = 0; v < NROUTERS; v++) {
                double d = dist[u] + delay[u][v] + load[v];
                if (d < dist[v]) { dist[v] = d; via[v] = u; }
            }
        }
        for (int v = dst; v >= 0; v = via[v]) load[v] += 0.01;
        return dist[dst];
    }
    __attribute__((noinline)) void drain() {
        for (double &l : load) l *= 0.995;
    }
};

} // namespace net

__attribute__((noinline))
double simulate(net::Agenda &agenda, net::Backbone &bb, std::mt19937 &gen, long &delivered) {
    std::exponential_distribution<double> gap(0.01);
    double total = 0.0;
    while (!agenda.empty()) {
        net::Event *ev = agenda.pop();
        int src = ev->flow % net::NROUTERS;
        int dst = (ev->flow * 7 + 11) % net::NROUTERS;
        total += bb.route(src, dst);
        bb.drain();
        delivered++;
        if (--ev->left > 0) {
            ev->when += gap(gen);
            agenda.schedule(ev);
        }
    }
    return total;
}

int main(int argc, char **argv) {
    int nflows = argc > 1 ? atoi(argv[1]) : 1000;
    std::mt19937 gen(4242);
    net::Backbone bb(gen);
    net::Agenda agenda;
    std::vector<net::Event> events(nflows);
    std::exponential_distribution<double> start(0.01);
    for (int f = 0; f < nflows; f++) {
        events[f] = {start(gen), f, net::PACKETS_PER_FLOW, nullptr};
        agenda.schedule(&events[f]);
    }
    long delivered = 0;
    double total = simulate(agenda, bb, gen, delivered);
    std::printf("flows %d delivered %ld mean latency %.4f ms\n", nflows, delivered, total / delivered);
    return 0;
}
