// Measures how compile time grows with the size of a graph.
//
//     compile_growth [FAMILY|all [SMALLEST [LARGEST [SECONDS]]]]
//     compile_growth --stop [FAMILY|all [NODES [MOMENTS]]]
//
// The first form compiles graphs of a family, without measuring kernels, on a stack of 256 KiB, and doubles the number
// of nodes each time. It prints milliseconds of each stage and in total, and `power`: the total grew with size^power
// since the line before, which should be little more than 1. A family ends when a compile takes more than SECONDS.
//
// The second form requests a stop at MOMENTS times spread over the compile of a graph. It prints for each stage the
// largest latency in milliseconds from a request to the end of the compile, and the time of the worst request.
#include "bench/graph_families.hpp"

#include <pthread.h>
#include <time.h>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace {

constexpr std::array stages_in_order{"graph", "simplify", "expand", "fuse", "select", "emit", "plan"};

clockid_t clock_of_this_thread() {
    clockid_t clock;
    pthread_getcpuclockid(pthread_self(), &clock);
    return clock;
}

/// CPU time of a thread in milliseconds, which other programs on the machine do not affect.
double cpu_milliseconds(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
    timespec now;
    clock_gettime(clock, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct Job {
    const cairn::bench::Family* family;
    int nodes;
    double seconds;
    double total = 0;
    bool cancelled = false, failed = false;
};

/// Requests a stop after the constructing thread has used `seconds` of CPU time. asked() is the CPU time of that thread
/// at the request, in milliseconds.
class StopTimer {
public:
    explicit StopTimer(double seconds)
        : watched_(clock_of_this_thread()), thread_([this, seconds] {
              std::unique_lock lock(mutex_);
              for (double left = seconds; left > 0; left = seconds - 1e-3 * cpu_milliseconds(watched_) + begun_)
                  if (done_.wait_for(lock, std::chrono::duration<double>(left), [this] { return is_done_; })) return;
              requested_at_ = cpu_milliseconds(watched_);
              source_.request_stop();
          }) {}
    ~StopTimer() {
        {
            const std::lock_guard lock(mutex_);
            is_done_ = true;
        }
        done_.notify_one();
        thread_.join();
    }
    std::stop_token token() const { return source_.get_token(); }
    double requested_at() const { return requested_at_; }

private:
    std::mutex mutex_;
    std::condition_variable done_;
    std::stop_source source_;
    bool is_done_ = false;
    clockid_t watched_;
    double begun_ = 1e-3 * cpu_milliseconds();
    double requested_at_ = 0;
    std::thread thread_;
};

void compile(Job& job) {
    const cairn::Graph graph = cairn::bench::build(*job.family, job.nodes);
    const cairn::Context context;
    std::map<std::string, double> stages;
    std::string stage;
    double since = cpu_milliseconds();
    const auto begin = [&](std::string_view next) {
        if (!stage.empty()) stages[stage] += cpu_milliseconds() - since;
        stage = next;
        since = cpu_milliseconds();
    };
    cairn::CompileOptions options;
    options.progress = [&](const cairn::Progress& progress) { begin(progress.phase); };
    StopTimer watch(job.seconds);
    options.stop = watch.token();
    const double start = cpu_milliseconds();
    std::printf("%-10s %6zu ", std::string(job.family->name).c_str(), graph.size());
    try {
        cairn::compile(graph, context, options);
    } catch (const cairn::Cancelled&) {
        std::printf("stopped in %s, %.0f ms after the request", stage.c_str(),
                    cpu_milliseconds() - watch.requested_at());
        job.cancelled = true;
    } catch (const std::exception& error) {
        std::printf("%s", error.what());
        job.failed = true;
    }
    job.total = cpu_milliseconds() - start;
    begin("");
    for (const char* name : stages_in_order) std::printf(" %s %.0f", name, stages[name]);
    std::printf(" | %.0f ms", job.total);
}

/// Compiles a graph once to the end, then once for each moment with a stop request at that moment.
void stop_at_moments(const cairn::bench::Family& family, int nodes, int moments) {
    const cairn::Graph graph = cairn::bench::build(family, nodes);
    std::printf("%-10s %6zu ", std::string(family.name).c_str(), graph.size());
    std::map<std::string, double> worst;
    double whole = 0, most = 0, when = 0;
    for (int moment = 0; moment <= moments; ++moment) {
        const cairn::Context context;  // a new one, since a Context caches results of earlier compiles
        std::string stage = "start";
        cairn::CompileOptions options;
        options.progress = [&](const cairn::Progress& progress) { stage = progress.phase; };
        const double seconds = 1e-3 * whole * (moment - 0.5) / moments;
        StopTimer watch(moment == 0 ? 1e6 : seconds);
        options.stop = watch.token();
        const double start = cpu_milliseconds();
        try {
            cairn::compile(graph, context, options);
            if (moment == 0) whole = cpu_milliseconds() - start;
        } catch (const cairn::Cancelled&) {
            const double answer = cpu_milliseconds() - watch.requested_at();
            worst[stage] = std::max(worst[stage], answer);
            if (answer > most) most = answer, when = 1e3 * seconds;
        }
    }
    for (const char* name : stages_in_order) std::printf(" %s %.1f", name, worst[name]);
    std::printf(" | %.1f ms, requested after %.0f of %.0f\n", most, when, whole);
}

/// Compiles on a stack of 256 KiB, so that a recursion whose depth grows with the graph overflows it.
void compile_on_small_stack(Job& job) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_t thread;
    const auto run = [](void* given) -> void* {
        compile(*static_cast<Job*>(given));
        return nullptr;
    };
    if (pthread_create(&thread, &attributes, run, &job) == 0) pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

}  // namespace

int main(int count, char** arguments) {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    const bool stops = count > 1 && std::string(arguments[1]) == "--stop";
    if (stops) ++arguments, --count;
    const std::string wanted = count > 1 ? arguments[1] : "all";
    if (stops) {
        const int nodes = count > 2 ? std::atoi(arguments[2]) : 20000,
                  moments = count > 3 ? std::atoi(arguments[3]) : 40;
        for (const cairn::bench::Family& family : cairn::bench::families)
            if (wanted == "all" || wanted == family.name) stop_at_moments(family, nodes, moments);
        return 0;
    }
    const int smallest = count > 2 ? std::atoi(arguments[2]) : 625,
              largest = count > 3 ? std::atoi(arguments[3]) : 20000;
    const double seconds = count > 4 ? std::atof(arguments[4]) : 10;
    for (const cairn::bench::Family& family : cairn::bench::families) {
        if (wanted != "all" && wanted != family.name) continue;
        double before = 0;
        for (int nodes = smallest; nodes <= largest; nodes *= 2) {
            Job job{&family, nodes, seconds};
            compile_on_small_stack(job);
            if (before > 0) std::printf(", power %.2f", std::log2(job.total / before));
            std::printf("\n");
            if (job.cancelled || job.failed) break;
            before = job.total;
        }
    }
    return 0;
}
