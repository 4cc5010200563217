#include "apps/text/merge_table.hpp"

#include "apps/text/file_errors.hpp"

namespace cairn::inline v0::text {

MergeTable merge_table(const BpeParts& parts, const Vocabulary& vocabulary) {
    const auto find = [&](const std::string& token, std::size_t number) {
        const auto id = vocabulary.find(token);
        if (!id)
            throw_bad_file(parts.merges_source, "merge " + std::to_string(number) + " needs " + quoted_name(token) +
                                                    ", which is not in the vocabulary");
        return *id;
    };
    MergeTable table;
    table.reserve(parts.merges.size());
    for (std::size_t rank = 0; rank < parts.merges.size(); ++rank) {
        const auto& [left, right] = parts.merges[rank];
        const std::size_t number = rank + 1;
        const MergeTable::Merge merge{static_cast<std::int32_t>(rank), find(left + right, number)};
        if (!table.add(find(left, number), find(right, number), merge))
            throw_bad_file(parts.merges_source, "merge " + std::to_string(number) + " of " + quoted_name(left) +
                                                    " and " + quoted_name(right) + " came before");
    }
    return table;
}

}  // namespace cairn::inline v0::text
