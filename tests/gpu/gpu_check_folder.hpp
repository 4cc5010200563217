#pragma once

#include "tests/examples/run_program.hpp"
#include "tests/io/weights/test_files.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::test {

/// A repository with the files of scripts/gpu_check alone, in a folder whose name has a space, and fake programs for
/// the script: shell scripts that print and end as they are told. The programs that it may start from the path are
/// those of the folder `tools` alone.
class GpuCheckFolder {
public:
    GpuCheckFolder();

    /// Writes a program of a build, such as `bin/cairn`, that is packed; its body follows `#!/bin/sh`.
    void program(const std::string& name, const std::string& body) const {
        script(root / "build/release" / name, body);
    }
    /// Writes a program that is found by its name, such as `nvidia-smi`.
    void tool(const std::string& name, const std::string& body) const { script(root / "tools" / name, body); }
    /// Writes a file of the repository.
    void file(const std::string& name, std::string_view text) const;
    void append(const std::string& name, std::string_view text) const;

    /// Runs the script. `variables` of the environment are added.
    Outcome run(std::vector<std::string> arguments, std::vector<std::string> variables = {}) const;
    /// Packs the programs and removes the build; then runs the script.
    Outcome check(std::vector<std::string> arguments) const;

    std::string path(const std::string& name) const { return (root / name).string(); }

private:
    static void script(const std::filesystem::path& path, const std::string& body);

    TempFolder folder_;

public:
    const std::filesystem::path root;
};

/// The JSON lines before the table, each of which must be an object with the fields of all results.
std::vector<nlohmann::json> results_of(const std::string& output);
/// The table, after the empty line.
std::string table_of(const std::string& output);
/// The statuses of the results of a stage, in order; of one name if it is given.
std::vector<std::string> statuses(const std::vector<nlohmann::json>& results, const std::string& stage,
                                  const std::string& name = "");

}  // namespace cairn::test
