#pragma once

#include "cairn/timing_db.hpp"
#include "timing/key.hpp"
#include "timing/sqlite_file.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

/// Measured errors of kernels: the rows, and the worst of them.
namespace cairn::inline v0::timing {

/// Adds a row. Throws DatabaseFault.
void insert_accuracy(SqliteFile& file, const Key& key, const std::string& class_text, const ErrorFigures& figures,
                     std::int64_t time);
/// Adds the rows of another file that are not here yet; the number added. Throws DatabaseFault.
std::size_t merge_accuracy(SqliteFile& file, SqliteFile& source);

/// The worst rows by key and by class, those of a file and those remembered without one.
class Accuracy {
public:
    void open(SqliteFile& file);
    void close();
    /// The file has other rows now.
    void forget();

    /// Throws DatabaseFault; asked again after close(), what is remembered.
    std::optional<ErrorFigures> worst(const Key& key) { return find(known_, by_key_, key.id()); }
    /// The same of the rows above their promise, for a key whose problem is a class.
    std::optional<ErrorFigures> worst_broken(const Key& key) { return find(known_broken_, by_class_, key.id()); }
    void remember(const Key& key, const std::string& class_text, const ErrorFigures& figures);

private:
    using Known = std::map<std::string, ErrorFigures>;
    static std::optional<ErrorFigures> find(const Known& known, std::optional<Statement>& statement,
                                            const std::string& id);

    Known known_, known_broken_;  // recorded here, by id
    std::optional<Statement> by_key_, by_class_;
};

}  // namespace cairn::inline v0::timing
