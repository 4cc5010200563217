#include "timing/accuracy.hpp"

#include <fmt/format.h>

namespace cairn::inline v0::timing {
namespace {

constexpr std::string_view columns = "relative, largest, promised, inputs, compared";

ErrorFigures read_figures(const Statement& row) {
    return {row.number(0), row.number(1), row.number(2), row.text(3), row.text(4)};
}

Key of_class(const Key& key, const std::string& class_text) { return {class_text, key.kernel, key.hard, {}, {}}; }

}  // namespace

void insert_accuracy(SqliteFile& file, const Key& key, const std::string& class_text, const ErrorFigures& figures,
                     std::int64_t time) {
    const ParentIds parents = insert_parents(file, key);
    Statement row =
        file.prepare("INSERT OR IGNORE INTO accuracy VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)");
    row.bind_blob(1, id_of(fmt::format("{}\n{}\n{}\n{}", key.id(), time, figures.relative, figures.largest)));
    row.bind_blob(2, key.id()).bind_blob(3, of_class(key, class_text).id()).bind(4, class_text);
    row.bind_blob(5, parents.problem).bind_blob(6, parents.candidate).bind_blob(7, parents.environment);
    row.bind(8, figures.counted()).bind(9, figures.relative).bind(10, figures.largest);
    row.bind(11, figures.promised).bind(12, figures.inputs).bind(13, figures.compared).bind(14, time);
    row.step();
}

std::size_t merge_accuracy(SqliteFile& file, SqliteFile& source) {
    std::size_t added = 0;
    Statement rows =
        source.prepare(fmt::format("SELECT {}, a.time, p.text, c.kernel, e.hard, e.soft, a.class_text FROM accuracy a "
                                   "JOIN problem p ON p.id=a.problem JOIN candidate c ON c.id=a.candidate "
                                   "JOIN environment e ON e.id=a.environment",
                                   columns));
    while (rows.step()) {
        const Key key{rows.text(6), rows.text(7), rows.text(8), rows.text(9), {}};
        insert_accuracy(file, key, rows.text(10), read_figures(rows), rows.integer(5));
        added += static_cast<std::size_t>(file.changes());
    }
    return added;
}

void Accuracy::open(SqliteFile& file) {
    by_key_.emplace(
        file.prepare(fmt::format("SELECT {} FROM accuracy WHERE key=?1 ORDER BY error DESC LIMIT 1", columns)));
    by_class_.emplace(file.prepare(fmt::format(
        "SELECT {} FROM accuracy WHERE class=?1 AND error > promised ORDER BY error DESC LIMIT 1", columns)));
}

void Accuracy::close() {
    by_key_.reset();
    by_class_.reset();
}

void Accuracy::forget() {
    known_.clear();
    known_broken_.clear();
}

void Accuracy::remember(const Key& key, const std::string& class_text, const ErrorFigures& figures) {
    const auto keep = [&](Known& known, const std::string& id) {
        const auto [it, fresh] = known.try_emplace(id, figures);
        if (!fresh && figures.counted() > it->second.counted()) it->second = figures;
    };
    keep(known_, Key{key.problem, key.kernel, key.hard, {}, {}}.id());
    if (figures.counted() > figures.promised) keep(known_broken_, of_class(key, class_text).id());
}

std::optional<ErrorFigures> Accuracy::find(const Known& known, std::optional<Statement>& statement,
                                           const std::string& id) {
    std::optional<ErrorFigures> found;
    if (const auto it = known.find(id); it != known.end()) found = it->second;
    if (!statement) return found;
    statement->bind_blob(1, id);
    if (statement->step())
        if (const ErrorFigures row = read_figures(*statement); !found || row.counted() > found->counted()) found = row;
    statement->reset();
    return found;
}

}  // namespace cairn::inline v0::timing
