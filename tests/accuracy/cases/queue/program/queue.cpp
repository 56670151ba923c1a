#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

struct Job {
  int owner, cost;
  long stamp;
};

typedef std::vector<Job> Waiting;

static Job take(Waiting &waiting) {
  Job job = waiting.front();
  waiting.erase(waiting.begin());
  return job;
}

int main(int argc, char **argv) {
  int jobs = argc > 1 ? std::atoi(argv[1]) : 60000;
  Waiting waiting;
  long clock = 0, sum = 0;
  for (int i = 0; i < jobs; i++) waiting.push_back({i % 13, i % 7 + 1, i});
  for (int i = 0; i < 2 * jobs && !waiting.empty(); i++) {
    Job job = take(waiting);
    clock += job.cost;
    sum += clock % 1000 * job.owner;
    if (--job.cost > 4) waiting.push_back(job);
  }
  std::printf("checksum %ld\n", sum);
}
