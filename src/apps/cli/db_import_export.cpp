#include "apps/cli/db.hpp"
#include "apps/cli/host.hpp"
#include "apps/cli/open_database.hpp"
#include "apps/cli/scratch_folder.hpp"
#include "apps/cli/subcommand.hpp"
#include "apps/console/atomic_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace cairn::cli {
namespace {

struct ImportExportOptions {
    Options all;
    std::string file = "-";
    std::vector<std::string> others;
    bool force = false;
};

void put_row_count(Output& output, std::string_view kind, const std::string& file, std::size_t rows,
                   std::string_view words) {
    output.line({{"kind", kind}, {"file", file}, {"rows", std::to_string(rows)}},
                fmt::format("{} rows {} {}", rows, words, file == "-" ? "standard input" : file));
}

/// Writes the rows to standard output, or to a file and prints their number.
int export_database(const ImportExportOptions& options, Output& output, const std::stop_token&) {
    const TimingFile file = open_to_read(options.all);
    if (options.file == "-") {
        std::ostringstream rows;
        file.export_rows(rows);
        output.text(rows.str());
        return 0;
    }
    console::AtomicFile text(options.file, options.force);
    std::ofstream rows(text.temporary_path(), std::ios::binary);
    const std::size_t count = file.export_rows(rows);
    rows.close();
    text.commit();
    put_row_count(output, "export", options.file, count, "written to");
    return 0;
}

int import_database(const ImportExportOptions& options, Output& output, const std::stop_token&) {
    std::istringstream rows(read_text(options.file));
    if (existing_database_or_empty(options.all).empty()) {
        // Refused rows must not create a database.
        const ScratchFolder scratch;
        TimingFile(scratch.path() / "rows.db", TimingFile::Use::write).import_rows(rows);
        rows.clear();
        rows.seekg(0);
    }
    const std::size_t added = open_or_create(options.all).import_rows(rows);
    put_row_count(output, "import", options.file, added, "added from");
    return 0;
}

int merge_databases(const ImportExportOptions& options, Output& output, const std::stop_token&) {
    const std::filesystem::path path = existing_database_or_empty(options.all);
    std::vector<TimingFile> others;
    for (const std::string& other : options.others) {
        std::error_code fault;
        if (std::filesystem::equivalent(other, path, fault))
            throw Error(ErrorKind::argument, "db", other + " is the database itself");
        others.push_back(open_other(other));
    }
    TimingFile file = open_or_create(options.all);
    for (std::size_t i = 0; i < others.size(); ++i)
        put_row_count(output, "merge", options.others[i], file.merge(others[i]), "added from");
    return 0;
}

}  // namespace

void add_db_import_export(CLI::App& db, Action& chosen) {
    const auto add = [&](const char* name, const char* help) {
        auto options = std::make_shared<ImportExportOptions>();
        CLI::App* const command = db.add_subcommand(name, help);
        return std::pair(command, options);
    };
    const auto [to_text, export_options] = add("export", "write all rows as text, one JSON object a line");
    to_text->add_option("file", export_options->file, "the text; - is standard output")
        ->option_text("FILE")
        ->capture_default_str();
    to_text->add_flag("--force", export_options->force, "replace a file that is there");
    add_database_options(*to_text, export_options->all);
    set_action(*to_text, export_options, chosen, export_database);

    const auto [from_text, import_options] =
        add("import", "add the rows of such a text: all, or where one is wrong none");
    from_text->add_option("file", import_options->file, "the text; - is standard input")
        ->required()
        ->option_text("FILE");
    add_database_options(*from_text, import_options->all);
    set_action(*from_text, import_options, chosen, import_database);

    const auto [merge, merge_options] = add("merge", "add the rows of other databases that are not here yet");
    merge->add_option("other", merge_options->others, "databases, which stay as they are")
        ->required()
        ->option_text("OTHER...");
    add_database_options(*merge, merge_options->all);
    set_action(*merge, merge_options, chosen, merge_databases);
}

}  // namespace cairn::cli
