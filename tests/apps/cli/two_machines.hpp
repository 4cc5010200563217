#pragma once

#include "cairn/timing_file.hpp"
#include "tests/apps/cli/cairn_command.hpp"
#include "tests/autotune/database/database_file.hpp"

#include <string>
#include <vector>

namespace cairn::test {

/// A database with times of two machines, and the output of `cairn db` on it.
class TwoMachines : public DatabaseFile {
protected:
    static constexpr const char *exp_64 = "exp | f32[64] -> f32[64]", *exp_4 = "exp | f32[4] -> f32[4]";

    void SetUp() override;
    /// `cairn db WORDS --db PATH`.
    Outcome db(std::vector<std::string> words, const RunOptions& options = {}) const;
    /// Rows of a kind in the output with --json; the command must succeed.
    std::vector<nlohmann::json> rows(std::vector<std::string> words, const std::string& kind) const;
    /// All rows of a database as text.
    static std::string text_of(const std::filesystem::path& database);
    /// Names of the files in the folder, in order.
    std::vector<std::string> files() const;
    /// Writes a file in the folder and returns its path.
    std::string write(const std::string& name, const std::string& text) const;
    /// Adds a time.
    static void add_time(const std::filesystem::path& database, const std::string& kernel, double seconds,
                         const TimingEnvironment& environment, int samples = 9);
    /// The environment of the command's measurements with this number of threads.
    static TimingEnvironment this_machine(int threads);

    std::string other = {};  ///< path for a second database
    TimingEnvironment second_machine{"machine B", "kernel 1"};
};

}  // namespace cairn::test
