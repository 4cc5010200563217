#include "autotune/database/row_json.hpp"
#include "autotune/database/row_writer.hpp"
#include "autotune/database/timing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>
#include <tuple>

// Transfers rows between databases: as text, by merging, and as a copy of the whole file.
namespace cairn::inline v0 {
namespace {

auto key_of(const TimingRecord& record) { return std::tie(record.problem, record.kernel, record.hard, record.policy); }

bool is_same_timing(const TimingRecord& a, const TimingRecord& b) {
    return a.time == b.time && a.timing.median == b.timing.median && a.timing.min == b.timing.min;
}

}  // namespace

std::size_t TimingFile::export_rows(std::ostream& out) const {
    std::size_t count = 0;
    state_->each_row({[&](const autotune::Row& row) {
        out << autotune::to_json_line(row) << '\n';
        ++count;
    }});
    if (!out.flush()) state_->fail("the text of its rows cannot be written");
    return count;
}

std::size_t TimingFile::import_rows(std::istream& in) {
    return state_->with_transaction([&](autotune::SqliteFile& file) {
        autotune::RowWriter writer(file);
        std::size_t number = 0, added = 0;
        const auto refuse = [&](const std::string& what) {
            throw Error(ErrorKind::file, "timings", fmt::format("line {} of the rows to add {}", number, what));
        };
        for (std::string line; std::getline(in, line);) {
            ++number;
            if (!line.empty() && writer.insert(autotune::parse_json_line(line, refuse))) ++added;
        }
        if (in.bad()) throw Error(ErrorKind::file, "timings", "the rows to add cannot be read");
        return added;
    });
}

std::size_t TimingFile::merge(const TimingFile& other) {
    return state_->with_transaction([&](autotune::SqliteFile& file) {
        autotune::RowWriter writer(file);
        std::size_t added = 0;
        other.state_->each_row({[&](const autotune::Row& row) { added += writer.insert(row) ? 1 : 0; }});
        return added;
    });
}

std::vector<TimingDifference> TimingFile::differences(const TimingFile& other) const {
    TimingFilter best;
    best.best_only = true;
    std::vector<TimingRecord> here = query(best), there = other.query(best);
    std::vector<TimingDifference> differences;
    for (auto a = here.begin(), b = there.begin(); a != here.end() || b != there.end();) {
        if (b == there.end() || (a != here.end() && key_of(*a) < key_of(*b))) {
            differences.push_back({std::move(*a++), std::nullopt});
        } else if (a == here.end() || key_of(*b) < key_of(*a)) {
            differences.push_back({std::nullopt, std::move(*b++)});
        } else {
            if (!is_same_timing(*a, *b)) differences.push_back({std::move(*a), std::move(*b)});
            ++a, ++b;
        }
    }
    return differences;
}

void TimingFile::copy_to(const std::filesystem::path& path) const {
    state_->with_file([&](autotune::SqliteFile& file) {
        const std::string name = autotune::sqlite_name(path);
        file.prepare("VACUUM INTO ?1").bind(1, name).step();
        return 0;
    });
}

}  // namespace cairn::inline v0
