#include "fuse/bodies.hpp"

#include "types/hash.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

namespace cairn::inline v0::fuse {
namespace {

std::uint32_t head_of(ir::Op op, DType dtype, std::size_t operands) {
    return static_cast<std::uint32_t>(operands) << 16 | static_cast<std::uint32_t>(dtype) << 8 |
           static_cast<std::uint32_t>(op);
}

bool same_step(const Step& a, const Step& b) {
    return a.op == b.op && a.operands == b.operands && a.dtype == b.dtype &&
           std::bit_cast<std::uint64_t>(a.number) == std::bit_cast<std::uint64_t>(b.number);
}

std::size_t hash_of(const std::vector<Step>& steps) {
    std::size_t seed = steps.size();
    for (const Step& step : steps) {
        types::mix(seed, std::hash<std::string>()(step.op));
        types::mix(seed, static_cast<std::size_t>(step.dtype));
        types::mix(seed, std::bit_cast<std::uint64_t>(step.number));
        for (const int operand : step.operands) types::mix(seed, static_cast<std::size_t>(operand));
    }
    return seed;
}

}  // namespace

Body::Body(std::vector<Step> steps) {
    if (steps.empty()) return;
    const std::size_t hash = hash_of(steps);
    stored_ = std::make_shared<const Stored>(Stored{std::move(steps), hash});
}

bool operator==(const Body& a, const Body& b) {
    return a.stored_ == b.stored_ ||
           (a.hash() == b.hash() && std::equal(a.begin(), a.end(), b.begin(), b.end(), same_step));
}

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
