#include "select/judge.hpp"

#include "types/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

namespace cairn::inline v0::select {
namespace {

/// Calls one of a kernel's functions. What it throws is its refusal: a kernel's fault is none of the graph's.
template <typename F>
void ask_kernel(std::string_view function, Refusal& refusal, const F& call) {
    try {
        call();
    } catch (const std::exception& error) {
        refusal = fmt::format("its {} failed: {}", function, error.what());
    } catch (...) { refusal = fmt::format("its {} threw what is no std::exception", function); }
}

// Zeros of different signs are different numbers, and NaN is itself.
std::uint64_t bits_of(const Attribute& attribute) {
    const auto* number = std::get_if<double>(&attribute.value);
    return number == nullptr ? 0 : std::bit_cast<std::uint64_t>(*number);
}

bool same_attribute(const Attribute& a, const Attribute& b) {
    if (a.name != b.name || a.value.index() != b.value.index()) return false;
    return std::holds_alternative<double>(a.value) ? bits_of(a) == bits_of(b) : a.value == b.value;
}

bool same_but_body(const Problem& a, const Problem& b) {
    return a.definition == b.definition && a.results == b.results && a.inputs == b.inputs && a.outputs == b.outputs &&
           std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
                      same_attribute);
}

std::size_t hash_of(const Problem& problem, const fuse::Body& body) {
    std::size_t seed = std::hash<std::string>()(problem.definition);
    types::mix(seed, body.hash());
    for (const int result : problem.results) types::mix(seed, static_cast<std::size_t>(result));
    for (const Attribute& attribute : problem.attributes) {
        types::mix(seed, bits_of(attribute));
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) types::mix(seed, *list);
    }
    for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
        types::mix(seed, tensors->size());
        for (const TensorDesc& tensor : *tensors) {
            types::mix(seed, static_cast<std::size_t>(tensor.dtype) * 2 + (tensor.bound ? 1 : 0));
            types::mix(seed, tensor.shape);
            types::mix(seed, tensor.strides);
            types::mix(seed, tensor.layout.size());
        }
    }
    return seed;
}

}  // namespace

const Problem& AskedProblem::operator*() const {
    if (stored_->problem.body.empty()) stored_->problem.body = stored_->body.steps();
    return stored_->problem;
}

Judge::Judge(const KernelSet& kernels, Isa isa, const CostSource& costs, const Symbols& symbols)
    : isa_(isa), costs_(costs), symbols_(&symbols), sizes_(representative_sizes(symbols)) {
    for (const Kernel& kernel : kernels.kernels) kernels_[kernel.definition].push_back(&kernel);
}

std::span<const Kernel* const> Judge::kernels_of(const std::string& definition) const {
    const auto it = kernels_.find(definition);
    return it == kernels_.end() ? std::span<const Kernel* const>() : it->second;
}

Question& Judge::question(Problem problem, const fuse::Body& body) {
    const std::size_t hash = hash_of(problem, body);
    const auto [first, last] = questions_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (it->second.problem_.body() == body && same_but_body(it->second.problem_.bare(), problem)) return it->second;
    Question& question = questions_.emplace(hash, Question())->second;
    question.problem_ = AskedProblem(std::move(problem), body);
    return question;
}

Question& Judge::question(const Problem& problem) {
    Problem bare;
    bare.definition = problem.definition;
    bare.attributes = problem.attributes;
    bare.results = problem.results;
    bare.inputs = problem.inputs;
    bare.outputs = problem.outputs;
    return question(std::move(bare), fuse::Body(problem.body));
}

/// The problem at the sizes that costs are told for: itself, where its sizes are constants.
const Problem& Judge::sized(Question& question) const {
    if (!question.sized_) {
        if (symbols_of(question.problem_.bare()) == nullptr) return *question.problem_;
        question.sized_ = at_sizes(*question.problem_, sizes_);
    }
    return *question.sized_;
}

// A function that several kernels share, for several levels of instructions, is asked once.
Refusal Judge::accepts(const Kernel& kernel, const Question& question) const {
    using Asked = Question::Asked;
    for (const Question::Answer& other : question.answers_)
        if (other.kernel->accepts == kernel.accepts && other.asked >= Asked::accepts)
            return other.asked == Asked::accepts ? other.judged.refusal : Refusal();
    Refusal refusal;
    ask_kernel("accepts", refusal, [&] { refusal = kernel.accepts(*question.problem_); });
    return refusal;
}

Refusal Judge::workspace(const Kernel& kernel, const Question& question) const {
    using Asked = Question::Asked;
    for (const Question::Answer& other : question.answers_)
        if (other.kernel->workspace == kernel.workspace && other.asked >= Asked::workspace)
            return other.asked == Asked::workspace ? other.judged.refusal : Refusal();
    Refusal refusal;
    Dim bytes = 0;
    ask_kernel("workspace", refusal, [&] { bytes = kernel.workspace(*question.problem_, costs_.policy.threads); });
    if (!refusal.empty()) return refusal;
    if (bytes.symbols() != nullptr && bytes.symbols().get() != symbols_)
        return "its workspace has symbols of another table";
    if (!provably_le(0, bytes)) return "its workspace may be negative: " + cairn::to_string(bytes);
    return {};
}

void Judge::ask(Question& question, Question::Answer& answer) const {
    const Kernel& kernel = *answer.kernel;
    Refusal& refusal = answer.judged.refusal;
    refusal = accepts(kernel, question);
    answer.asked = Question::Asked::accepts;
    if (!refusal.empty()) return;
    ask_kernel("cost", refusal, [&] { answer.judged.estimate = estimate(kernel, sized(question), costs_); });
    answer.asked = Question::Asked::cost;
    if (!refusal.empty()) return;
    if (kernel.workspace != nullptr) refusal = workspace(kernel, question);
    answer.asked = refusal.empty() ? Question::Asked::all : Question::Asked::workspace;
}

Question::Answer& Judge::answer(Question& question, const Kernel& kernel) const {
    const auto known = std::find_if(question.answers_.begin(), question.answers_.end(),
                                    [&](const Question::Answer& answer) { return answer.kernel == &kernel; });
    if (known != question.answers_.end()) return *known;
    if (question.answers_.empty()) question.answers_.reserve(kernels_of(kernel.definition).size());
    Question::Answer& answer = question.answers_.emplace_back(Question::Answer{&kernel});
    if (kernel.isa > isa_)
        answer.judged.refusal = fmt::format("needs {}, in use is {}", to_string(kernel.isa), to_string(isa_));
    else if (kernel.device != Device::cpu)
        answer.judged.refusal = fmt::format("runs on {}", to_string(kernel.device));
    else
        ask(question, answer);
    return answer;
}

void Judge::put_away(Question& question) {
    question.problem_.drop_body();
    question.sized_.reset();
}

bool Judge::can_prepare(Question& question, const Kernel& kernel) {
    if (kernel.prepare == nullptr) return true;
    Judged& judged = answer(question, kernel).judged;
    if (judged.prepared) return true;
    ask_kernel("prepare", judged.refusal, [&] { kernel.prepare(*question.problem_, costs_.policy.threads); });
    return judged.prepared = judged.refusal.empty();
}

}  // namespace cairn::inline v0::select
