// Milliseconds of each stage of a compile, nothing measured, for graphs of one make and growing size, on a stack of
// 256 KiB; `power` is p where the whole grew with size^p since the line before: no more than a little above 1.
//
//     compile_growth [FAMILY|all [SMALLEST [LARGEST [SECONDS]]]]
#include "bench/graph_families.hpp"

#include <pthread.h>
#include <time.h>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) {
    return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

/// Milliseconds that this thread has worked: other programs on the machine do not count.
double worked() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct Job {
    const cairn::bench::Family* family;
    int nodes;
    double seconds;
    double total = 0;
    bool cancelled = false, failed = false;
};

/// Asks for a stop once the seconds are up, and tells when it did.
class Watch {
public:
    explicit Watch(double seconds)
        : thread_([this, seconds] {
              std::unique_lock lock(mutex_);
              if (done_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return is_done_; })) return;
              asked_ = Clock::now();
              source_.request_stop();
          }) {}
    ~Watch() {
        {
            const std::lock_guard lock(mutex_);
            is_done_ = true;
        }
        done_.notify_one();
        thread_.join();
    }
    std::stop_token token() const { return source_.get_token(); }
    Clock::time_point asked() const { return asked_; }

private:
    std::mutex mutex_;
    std::condition_variable done_;
    std::stop_source source_;
    bool is_done_ = false;
    Clock::time_point asked_;
    std::thread thread_;
};

void compile(Job& job) {
    const cairn::Graph graph = cairn::bench::build(*job.family, job.nodes);
    const cairn::Context context;
    std::map<std::string, double> stages;
    std::string stage;
    double since = worked();
    const auto begin = [&](std::string_view next) {
        if (!stage.empty()) stages[stage] += worked() - since;
        stage = next;
        since = worked();
    };
    cairn::CompileOptions options;
    options.progress = [&](const cairn::Progress& progress) { begin(progress.phase); };
    Watch watch(job.seconds);
    options.stop = watch.token();
    const double start = worked();
    std::printf("%-10s %6zu ", std::string(job.family->name).c_str(), graph.size());
    try {
        cairn::compile(graph, context, options);
    } catch (const cairn::Cancelled&) {
        std::printf("gave up in %s, answered after %.0f ms", stage.c_str(), milliseconds(watch.asked()));
        job.cancelled = true;
    } catch (const std::exception& error) {
        std::printf("%s", error.what());
        job.failed = true;
    }
    job.total = worked() - start;
    begin("");
    for (const char* name : {"graph", "simplify", "fuse", "select", "emit", "plan"})
        std::printf(" %s %.0f", name, stages[name]);
    std::printf(" | %.0f ms", job.total);
}

/// A compile that recurses with its graph crashes here.
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
    const std::string wanted = count > 1 ? arguments[1] : "all";
    const int smallest = count > 2 ? std::atoi(arguments[2]) : 625,
              largest = count > 3 ? std::atoi(arguments[3]) : 20000;
    const double seconds = count > 4 ? std::atof(arguments[4]) : 10;
    std::setvbuf(stdout, nullptr, _IONBF, 0);
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
