#include "fusion/body.hpp"

#include "graph/ir/op_table.hpp"
#include "graph/types/hash.hpp"
#include "graph/types/pool_copy.hpp"

#include <bit>
#include <string>

namespace cairn::fusion {
namespace {

using ir::Op;

constexpr std::string_view constant_name = "const";

// Replaces the op if the step is a definition: the number of its operands, the operands and its name follow.
constexpr std::uint32_t of_definition = 0xff;

// The first word of a step: the number of words that follow, the dtype and the op.
std::uint32_t head_of(std::uint32_t op, DType dtype, std::size_t behind) {
    return static_cast<std::uint32_t>(behind) << 16 | static_cast<std::uint32_t>(dtype) << 8 | op;
}
std::uint32_t head_of(Op op, DType dtype, std::size_t behind) {
    return head_of(static_cast<std::uint32_t>(op), dtype, behind);
}
std::size_t behind(std::uint32_t head) { return head >> 16; }
DType dtype_in(std::uint32_t head) { return static_cast<DType>(head >> 8 & 0xff); }
bool is_of_definition(std::uint32_t head) { return (head & 0xff) == of_definition; }
Op op_in(std::uint32_t head) { return static_cast<Op>(head & 0xff); }

}  // namespace

Body::Body(const std::vector<Step>& steps) {
    BodyBuilder bodies;
    for (const Step& step : steps) {
        const auto op = ir::find_op(step.op);
        if (step.op == constant_name)
            bodies.constant(step.dtype, step.number);
        else if (op)
            bodies.add(*op, step.dtype, step.operands);
        else
            bodies.add(step.op, step.dtype, step.operands);
    }
    *this = bodies.finish();
}

std::vector<Step> Body::steps() const {
    std::vector<Step> steps;
    if (stored_ == nullptr) return steps;
    steps.reserve(stored_->size);
    for (auto at = stored_->words.begin(); at != stored_->words.end();) {
        const std::uint32_t head = *at++;
        const auto next = at + static_cast<std::ptrdiff_t>(behind(head));
        if (const auto name = is_of_definition(head) ? at + 1 + *at : next; is_of_definition(head))
            steps.push_back({std::string(name, next), {at + 1, name}, dtype_in(head), 0});
        else if (op_in(head) == Op::constant)
            steps.push_back({std::string(constant_name),
                             {},
                             dtype_in(head),
                             std::bit_cast<double>(std::uint64_t{at[1]} << 32 | at[0])});
        else
            steps.push_back({std::string(ir::info(op_in(head)).name), {at, next}, dtype_in(head), 0});
        at = next;
    }
    return steps;
}

bool Body::begins_with(ir::Op op) const noexcept {
    return !empty() && !is_of_definition(stored_->words[0]) && op_in(stored_->words[0]) == op;
}

void BodyBuilder::constant(DType dtype, double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    words_.push_back(head_of(Op::constant, dtype, 2));
    words_.push_back(static_cast<std::uint32_t>(bits));
    words_.push_back(static_cast<std::uint32_t>(bits >> 32));
    ++size_;
}

void BodyBuilder::add(Op op, DType dtype, std::span<const int> operands) {
    words_.push_back(head_of(op, dtype, operands.size()));
    words_.insert(words_.end(), operands.begin(), operands.end());
    ++size_;
}

void BodyBuilder::add(std::string_view definition, DType dtype, std::span<const int> operands) {
    words_.push_back(head_of(of_definition, dtype, 1 + operands.size() + definition.size()));
    words_.push_back(static_cast<std::uint32_t>(operands.size()));
    words_.insert(words_.end(), operands.begin(), operands.end());
    words_.insert(words_.end(), definition.begin(), definition.end());
    ++size_;
}

const Body::Stored* BodyBuilder::store(std::size_t hash) {
    const auto words = types::copy_to_pool(std::span<const std::uint32_t>(words_), *pool_);
    std::pmr::polymorphic_allocator<> allocator(pool_.get());
    const auto* const stored = allocator.new_object<Body::Stored>(Body::Stored{words, size_, hash});
    index_.add(hash, static_cast<std::uint32_t>(known_.size()));
    known_.push_back(stored);
    return stored;
}

Body BodyBuilder::finish() {
    std::size_t hash = size_;
    for (const std::uint32_t word : words_) types::hash_combine(hash, word);
    Body body;
    const Body::Stored* stored = nullptr;
    index_.each(hash, [&](std::uint32_t at) {
        if (known_[at]->hash == hash && std::ranges::equal(known_[at]->words, words_)) stored = known_[at];
    });
    if (stored == nullptr && size_ > 0) stored = store(hash);
    if (stored != nullptr) body.stored_ = {pool_, stored};
    words_.clear();
    size_ = 0;
    return body;
}

}  // namespace cairn::fusion
