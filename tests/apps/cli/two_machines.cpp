#include "tests/apps/cli/two_machines.hpp"

#include "cairn/tuning.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cairn::test {

void TwoMachines::SetUp() {
    DatabaseFile::SetUp();
    other = (folder / "other.db").string();
    TimingDb db(path, log(), {.program = "a program"});
    db.record(problem(exp_64), "k@1", machine, policy, timing(1e-6, 5));
    db.record(problem(exp_64), "k@1", machine, policy, timing(2e-6, 9));
    db.record(problem(exp_64), "k@2", second_machine, policy, timing(3e-6));
    Timing failed;
    failed.status = TimingStatus::failed;
    failed.note = "out of memory";
    db.record(problem(exp_4), "k@3", machine, policy, failed);
    db.record_error(problem(exp_64), "k@1", machine, figures(1e-3));
    db.record_choice("which", machine, policy, {"a", 0.9, 0.85, 0.95, 30});
    db.add_rule({"k@9", "matmul *", RuleAction::ban, "slow"});
}

Outcome TwoMachines::db(std::vector<std::string> words, const RunOptions& options) const {
    words.insert(words.begin(), "db");
    words.insert(words.end(), {"--db", path.string()});
    return run(CAIRN_COMMAND, words, options);
}

std::vector<nlohmann::json> TwoMachines::rows(std::vector<std::string> words, const std::string& kind) const {
    words.emplace_back("--json");
    const Outcome outcome = db(words);
    EXPECT_TRUE(succeeds(outcome));
    return rows_of(outcome, kind);
}

std::string TwoMachines::text_of(const std::filesystem::path& database) {
    std::ostringstream text;
    TimingFile(database, TimingFile::Use::read).export_rows(text);
    return text.str();
}

std::vector<std::string> TwoMachines::files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with("-wal") && !name.ends_with("-shm")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string TwoMachines::write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
}

void TwoMachines::add_time(const std::filesystem::path& database, const std::string& kernel, double seconds,
                           const TimingEnvironment& environment, int samples) {
    TimingDb(database).record(problem(exp_64), kernel, environment, policy, timing(seconds, samples));
}

TimingEnvironment TwoMachines::this_machine(int threads) {
    ContextOptions options;
    options.threads = threads;
    return timing_environment(Context(options));
}

}  // namespace cairn::test
