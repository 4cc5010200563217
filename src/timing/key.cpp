#include "timing/key.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace cairn::inline v0::timing {
namespace {

void put(SqliteFile& file, std::string_view sql, const std::string& id, std::string_view text) {
    file.prepare(sql).bind_blob(1, id).bind(2, text).step();
}

}  // namespace

std::string id_of(std::string_view text) {
    const Digest whole = digest(text);
    std::string bytes;
    for (const std::uint64_t half : {whole.high, whole.low})
        for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(half >> shift);
    return bytes;
}

std::string Key::id() const { return id_of(fmt::format("{}\n{}\n{}\n{}", problem, kernel, hard, policy)); }

std::string class_of(const Problem& problem) {
    Problem bare;
    bare.definition = problem.definition;
    bare.body = problem.body;
    bare.results = problem.results;
    for (Step& step : bare.body) step.number = 0;
    const auto add = [](const std::vector<TensorDesc>& from, std::vector<TensorDesc>& to) {
        for (const TensorDesc& tensor : from) {
            to.push_back(TensorDesc::dense(tensor.dtype, {}));
            to.back().layout = tensor.layout;
        }
    };
    add(problem.inputs, bare.inputs);
    add(problem.outputs, bare.outputs);
    return to_string(bare);
}

ParentIds insert_parents(SqliteFile& file, const Key& key) {
    const ParentIds ids{id_of(key.problem), id_of(key.kernel), id_of(key.hard + "\n" + key.soft),
                        key.policy.empty() ? std::string() : id_of(key.policy)};
    put(file, "INSERT OR IGNORE INTO problem VALUES(?1, ?2)", ids.problem, key.problem);
    put(file, "INSERT OR IGNORE INTO candidate VALUES(?1, ?2)", ids.candidate, key.kernel);
    file.prepare("INSERT OR IGNORE INTO environment VALUES(?1, ?2, ?3)")
        .bind_blob(1, ids.environment)
        .bind(2, key.hard)
        .bind(3, key.soft)
        .step();
    if (!key.policy.empty()) put(file, "INSERT OR IGNORE INTO policy VALUES(?1, ?2)", ids.policy, key.policy);
    return ids;
}

}  // namespace cairn::inline v0::timing
