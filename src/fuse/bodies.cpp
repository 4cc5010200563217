#include "fuse/bodies.hpp"

#include "types/hash.hpp"

#include <bit>
#include <string>

namespace cairn::inline v0::fuse {
namespace {

std::uint32_t head_of(ir::Op op, DType dtype, std::size_t operands) {
    return static_cast<std::uint32_t>(operands) << 16 | static_cast<std::uint32_t>(dtype) << 8 |
           static_cast<std::uint32_t>(op);
}

}  // namespace

void Bodies::constant(DType dtype, double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    code_.insert(code_.end(), {head_of(ir::Op::constant, dtype, 2), static_cast<std::uint32_t>(bits),
                               static_cast<std::uint32_t>(bits >> 32)});
}

void Bodies::add(ir::Op op, DType dtype, std::span<const int> operands) {
    code_.push_back(head_of(op, dtype, operands.size()));
    code_.insert(code_.end(), operands.begin(), operands.end());
}

std::vector<Step> Bodies::decoded() const {
    std::size_t count = 0;
    for (std::size_t at = 0; at < code_.size(); at += 1 + (code_[at] >> 16)) ++count;
    std::vector<Step> steps;
    steps.reserve(count);
    for (std::size_t at = 0; at < code_.size(); at += 1 + (code_[at] >> 16)) {
        const auto op = static_cast<ir::Op>(code_[at] & 0xff);
        const auto dtype = static_cast<DType>(code_[at] >> 8 & 0xff);
        const auto first = code_.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        if (op == ir::Op::constant) {
            const std::uint64_t bits = std::uint64_t{first[1]} << 32 | first[0];
            steps.push_back({"const", {}, dtype, std::bit_cast<double>(bits)});
        } else {
            steps.push_back({std::string(ir::info(op).name), {first, first + (code_[at] >> 16)}, dtype, 0});
        }
    }
    return steps;
}

Body Bodies::finish() {
    std::size_t hash = code_.size();
    for (const std::uint32_t word : code_) types::mix(hash, word);
    const auto [first, last] = known_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (it->second.code == code_) {
            code_.clear();
            return it->second.body;
        }
    Body body(decoded());
    known_.emplace(hash, Known{code_, body});
    code_.clear();
    return body;
}

}  // namespace cairn::inline v0::fuse
