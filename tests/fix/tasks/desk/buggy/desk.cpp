#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>

struct Request {
  int64_t id;
  int64_t work[3];
};

class Desk {
 public:
  void add(const Request &r) { waiting_.push_back(r); }
  Request next() {
    Request r = waiting_.back();
    waiting_.pop_back();
    return r;
  }
  bool empty() const { return waiting_.empty(); }

 private:
  std::deque<Request> waiting_;
};

int main(int argc, char **argv) {
  int start = argc > 1 ? std::atoi(argv[1]) : 4000, more = argc > 2 ? std::atoi(argv[2]) : 60000;
  uint32_t s = argc > 3 ? (uint32_t)std::strtoul(argv[3], nullptr, 10) : 8u;
  Desk desk;
  int64_t made = 0, digest = 7;
  for (; made < start; made++) desk.add(Request{made, {made % 5, made % 7, 1}});
  while (!desk.empty()) {
    Request r = desk.next();
    s = s * 1664525u + 1013904223u;
    digest = (digest * 31 + r.id * r.work[0] + r.work[1] + (s >> 28)) % 1000000007;
    if (r.work[2] > 0 && made < start + more) {
      desk.add(Request{made, {(int64_t)(s >> 30), r.work[0], 1}});
      made++;
    }
  }
  std::printf("checksum %lld %lld\n", (long long)digest, (long long)made);
  return 0;
}
