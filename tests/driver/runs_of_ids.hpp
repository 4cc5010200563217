#pragma once

#include "cairn/compiled_graph.hpp"

#include <cstdint>
#include <vector>

namespace cairn::test {

/// The outputs `y` of a bound model of token ids, in runs of 0 to 64 rows, one after another.
inline std::vector<float> outputs_of_ids(CompiledGraph& compiled, std::int64_t vocabulary) {
    std::vector<float> all;
    for (const std::int64_t rows : {0, 1, 2, 12, 13, 64}) {
        std::vector<std::int32_t> ids(static_cast<std::size_t>(rows) + 1);
        for (std::size_t i = 0; i < ids.size(); ++i)
            ids[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * 331 % vocabulary);
        compiled.set("ids", ids.data(), {rows});
        compiled.run();
        for (const float y : compiled.output("y").as<float>()) all.push_back(y);
    }
    return all;
}

}  // namespace cairn::test
