#include "apps/compare/settings.hpp"

#include "apps/compare/config_table.hpp"
#include "apps/console/text_file.hpp"
#include "cairn/context.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace cairn::compare {
namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Task, 4> task_names{
    {{Task::classify, "classify"}, {Task::embed, "embed"}, {Task::generate, "generate"}, {Task::run, "run"}}};
constexpr Names<Kind, 5> kind_names{{{Kind::encoder, "encoder"},
                                     {Kind::decoder, "decoder"},
                                     {Kind::lexicon, "lexicon"},
                                     {Kind::graph, "graph"},
                                     {Kind::command, "command"}}};

template <typename Enum, std::size_t N>
std::string_view name_in(const Names<Enum, N>& names, Enum wanted) {
    return std::ranges::find(names, wanted, &std::pair<Enum, std::string_view>::first)->second;
}

template <typename Enum, std::size_t N>
std::optional<Enum> value_in(const Names<Enum, N>& names, std::string_view text) {
    const auto found = std::ranges::find(names, text, &std::pair<Enum, std::string_view>::second);
    return found == names.end() ? std::optional<Enum>() : found->first;
}

template <typename Enum, std::size_t N>
std::vector<std::string> texts_of(const Names<Enum, N>& names) {
    std::vector<std::string> texts;
    for (const auto& [value, text] : names) texts.emplace_back(text);
    return texts;
}

constexpr std::int64_t most = 1'000'000'000;

DataSettings read_data(const ConfigTable& table, Task task) {
    DataSettings data;
    data.file = table.path("file").value_or("");
    if (data.file.empty()) table.fail_missing("file");
    if (task == Task::run)
        data.inputs = table.text("inputs").value_or(data.inputs);
    else
        data.text = table.text("text").value_or(data.text);
    data.label = table.text("label").value_or(data.label);
    data.limit = table.integer("limit", 0, most).value_or(0);
    table.refuse_others();
    return data;
}

MeasureSettings read_measure(const ConfigTable& table, Task task) {
    MeasureSettings measure;
    measure.warm_up = table.integer("warm_up", 0, most).value_or(measure.warm_up);
    measure.iterations = table.integer("iterations", 1, most).value_or(measure.iterations);
    measure.turns = table.integer("turns", 1, most).value_or(measure.turns);
    if (const auto sizes = table.integers("batch_sizes", 1, 65536)) measure.batch_sizes = *sizes;
    measure.threads = table.integer("threads", 1, 4096).value_or(usable_cpus());
    measure.timeout = table.number("timeout", 1e-3, 1e6).value_or(measure.timeout);
    measure.tolerance = table.number("tolerance", 0, 1).value_or(measure.tolerance);
    if (task != Task::run) measure.max_length = table.integer("max_length", 2, most).value_or(0);
    if (task == Task::generate) measure.tokens = table.integer("tokens", 1, most).value_or(measure.tokens);
    table.refuse_others();
    return measure;
}

/// The entries of the kinds that are compiled by Cairn.
void read_compile_options(const ConfigTable& table, ImplementationSettings& made) {
    made.mode = table.choice("mode", {"off", "cached", "quick", "normal"}).value_or(made.mode);
    made.tolerance = table.number("tolerance", 0, 1).value_or(made.tolerance);
}

ImplementationSettings read_implementation(const ConfigTable& table, Task task) {
    ImplementationSettings made;
    const auto name = table.text("name"), kind = table.choice("kind", texts_of(kind_names));
    if (!name || name->empty()) table.fail_missing("name");
    if (!kind) table.fail_missing("kind");
    made.name = *name;
    made.kind = *parse_kind(*kind);
    made.model = table.path("model").value_or("");
    switch (made.kind) {
        case Kind::command:
            made.command = table.texts("command").value_or(std::vector<std::string>());
            if (made.command.empty()) table.fail_missing("command");
            break;
        case Kind::graph:
            made.weights = table.path("weights").value_or("");
            made.batched = table.flag("batched").value_or(made.batched);
            if (task == Task::run) made.labels = table.texts("labels").value_or(std::vector<std::string>());
            read_compile_options(table, made);
            break;
        case Kind::lexicon:
            made.negative_below = table.number("negative_below", -1e9, 1e9).value_or(0);
            made.positive_above = table.number("positive_above", -1e9, 1e9).value_or(0);
            read_compile_options(table, made);
            break;
        case Kind::encoder:
        case Kind::decoder: read_compile_options(table, made); break;
    }
    if (task == Task::classify || !made.labels.empty())
        made.rename_labels = table.text_map("rename_labels").value_or(std::map<std::string, std::string>());
    if (made.is_in_process() && made.model.empty()) table.fail_missing("model");
    const bool fits = made.kind == Kind::command || (made.kind == Kind::graph) == (task == Task::run);
    const bool generates = made.kind == Kind::decoder, classifies = made.kind == Kind::lexicon;
    if (!fits || (made.kind != Kind::command && generates != (task == Task::generate)) ||
        (classifies && task != Task::classify))
        table.fail("kind", "a " + std::string(to_string(made.kind)) + " has no task " + std::string(to_string(task)));
    table.refuse_others();
    return made;
}

}  // namespace

std::string_view to_string(Task task) { return name_in(task_names, task); }
std::optional<Task> parse_task(std::string_view text) { return value_in(task_names, text); }
std::string_view to_string(Kind kind) { return name_in(kind_names, kind); }
std::optional<Kind> parse_kind(std::string_view text) { return value_in(kind_names, text); }

Settings read_settings(const std::filesystem::path& path) {
    const ConfigFile file(console::read_text(path.string()), path);
    const ConfigTable root = file.root();
    Settings settings;
    settings.folder = std::filesystem::absolute(path).parent_path();
    settings.title = root.text("title").value_or(path.stem().string());
    const auto task = root.choice("task", texts_of(task_names));
    if (!task) root.fail_missing("task");
    settings.task = *parse_task(*task);
    const auto data = root.table("data");
    if (!data) root.fail_missing("data");
    settings.data = read_data(*data, settings.task);
    settings.measure.threads = usable_cpus();
    if (const auto measure = root.table("measure")) settings.measure = read_measure(*measure, settings.task);
    for (const ConfigTable& table : root.tables("implementation")) {
        settings.implementations.push_back(read_implementation(table, settings.task));
        const std::string& name = settings.implementations.back().name;
        if (std::ranges::count(settings.implementations, name, &ImplementationSettings::name) > 1)
            table.fail("name", "there is another implementation \"" + name + "\"");
    }
    if (settings.implementations.empty()) root.fail_missing("implementation");
    root.refuse_others();
    return settings;
}

}  // namespace cairn::compare
