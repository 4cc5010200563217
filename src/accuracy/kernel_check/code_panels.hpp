#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// The layout panel32_q8 of a matrix [K, N], implemented independently of the kernels: panels of 32 columns, in groups
/// of 32 steps of k; a group is 32 scales in f16 and then its codes, k by k.
namespace cairn::kernel_check {

/// True for panel32_q8 and panel32_q8.t.
bool is_code_panels(std::string_view layout);

class CodePanels {
public:
    /// `is_transposed`: elements are those of the transposed matrix. Throws Error(argument) for a K that is no multiple
    /// of 32.
    CodePanels(std::int64_t depth, std::int64_t columns, bool is_transposed);

    std::size_t bytes() const;
    /// Writes the nearest elements that codes and scales can express. A group with NaN becomes NaN, one with an
    /// infinity infinite.
    void write(const std::vector<double>& elements, std::byte* to) const;
    /// The elements: products of codes and scales.
    std::vector<double> read(const std::byte* from) const;

private:
    std::size_t index(std::int64_t k, std::int64_t n) const;
    std::size_t group_at(std::int64_t k, std::int64_t n) const;

    std::int64_t depth_, columns_;
    bool is_transposed_;
};

}  // namespace cairn::kernel_check
