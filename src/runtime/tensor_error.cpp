#include "runtime/tensor_error.hpp"

#include "accuracy/metric/error_norms.hpp"
#include "graph/types/element_access.hpp"

#include <cstring>
#include <limits>

namespace cairn::runtime {
namespace {

/// Calls visit(y, r) for each pair of elements.
template <typename Visit>
void for_each_pair(DType dtype, const ForEachSegment& for_each_segment, Visit visit) {
    const std::size_t size = size_of(dtype);
    for_each_segment([&](const std::byte* got, const std::byte* wanted, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes / size; ++i)
            visit(types::load_float(dtype, got, i), types::load_float(dtype, wanted, i));
    });
}

double integer_error(const ForEachSegment& for_each_segment) {
    bool same = true;
    for_each_segment([&](const std::byte* got, const std::byte* wanted, std::size_t bytes) {
        same = same && (bytes == 0 || std::memcmp(got, wanted, bytes) == 0);
    });
    return same ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace

double tensor_error(DType dtype, const ForEachSegment& for_each_segment) {
    if (!is_float(dtype)) return integer_error(for_each_segment);
    const auto pairs = [&](const auto& visit) { for_each_pair(dtype, for_each_segment, visit); };
    return accuracy::error_norms(pairs, accuracy::is_same_number).combined();
}

}  // namespace cairn::runtime
