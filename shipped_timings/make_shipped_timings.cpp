// Makes the timings that ship with Cairn from what measure_shipped_timings measured.
//
//     make_shipped_timings text DB reference.jsonl                    # the trustworthy rows of a database, as text
//     make_shipped_timings file reference.jsonl shipped_timings.db    # that text as the database that programs read

#include "cairn/context.hpp"
#include "cairn/error.hpp"
#include "cairn/timing_file.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

namespace {

struct Options {
    std::string database, text, file;
};

/// A temporary database file beside `path`, removed by the destructor.
class TemporaryDatabase {
public:
    explicit TemporaryDatabase(const std::filesystem::path& path) : path_(path.string() + ".passing") { remove(); }
    ~TemporaryDatabase() { remove(); }
    TemporaryDatabase(const TemporaryDatabase&) = delete;
    TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    void remove() const {
        std::error_code ignored;
        for (const char* tail : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + tail, ignored);
    }
    std::filesystem::path path_;
};

/// The kernel ids that rows may name: existing kernels, without settings, and rates of the machine.
class KnownKernels {
public:
    KnownKernels() {
        const cairn::Context context;
        for (const cairn::Kernel& kernel : context.kernels().kernels) ids_.insert(without_setting(kernel.id));
    }
    bool contains(const std::string& id) const {
        return id.starts_with("machine.") || ids_.contains(without_setting(id));
    }

private:
    static std::string without_setting(const std::string& id) { return id.substr(0, id.find('{')); }
    std::set<std::string> ids_;
};

/// Rows of the existing text, without those of environments that were measured again and of kernels that no longer
/// exist.
std::string rows_kept(const std::string& path, const cairn::TimingFileInfo& fresh) {
    std::ifstream in(path, std::ios::binary);
    const KnownKernels known;
    std::string rows;
    for (std::string line; std::getline(in, line);) {
        const nlohmann::json row = nlohmann::json::parse(line);
        const std::string hard = row.value("hard", ""), kernel = row.value("kernel", "");
        const bool is_old = std::any_of(fresh.environments.begin(), fresh.environments.end(),
                                        [&](const auto& each) { return each.first.hard == hard; });
        if (!is_old && (kernel.empty() || known.contains(kernel))) rows += line + '\n';
    }
    return rows;
}

void text(const Options& options) {
    const cairn::TimingFile fresh(options.database, cairn::TimingFile::Use::read);
    std::istringstream kept(rows_kept(options.text, fresh.info()));
    const TemporaryDatabase all(options.text + ".all"), seed(options.text);
    {
        cairn::TimingFile rows(all.path(), cairn::TimingFile::Use::write);
        rows.merge(fresh);
        rows.import_rows(kept);
        rows.write_shipped_timings(seed.path());
    }
    std::ofstream out(options.text, std::ios::binary);
    std::cout << cairn::TimingFile(seed.path(), cairn::TimingFile::Use::read).export_rows(out) << " rows\n";
}

void file(const Options& options) {
    const TemporaryDatabase all(options.file);
    cairn::TimingFile rows(all.path(), cairn::TimingFile::Use::write);
    std::ifstream in(options.text, std::ios::binary);
    if (!in) throw cairn::Error(cairn::ErrorKind::file, "make_shipped_timings", "cannot read " + options.text);
    rows.import_rows(in);
    std::filesystem::remove(options.file);
    const cairn::TimingFileInfo info = rows.write_shipped_timings(options.file);
    std::cout << info.times << " times in " << info.bytes << " bytes\n";
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Makes the timings that ship with Cairn");
    app.require_subcommand(1);
    CLI::App* const telling = app.add_subcommand("text", "writes the trustworthy rows of a database as text");
    telling->add_option("db", options.database)->required();
    telling->add_option("text", options.text)->required();
    CLI::App* const making = app.add_subcommand("file", "converts that text to the database that programs read");
    making->add_option("text", options.text)->required();
    making->add_option("file", options.file)->required();
    try {
        app.parse(argc, argv);
        if (telling->parsed()) text(options);
        if (making->parsed()) file(options);
        return 0;
    } catch (const CLI::Error& error) { return app.exit(error); } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
}
