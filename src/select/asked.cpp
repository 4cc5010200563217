#include "select/asked.hpp"

#include "types/hash.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace cairn::inline v0::select {
namespace {

std::uint64_t bits_of(const Attribute& attribute) {
    const auto* number = std::get_if<double>(&attribute.value);
    return number == nullptr ? 0 : std::bit_cast<std::uint64_t>(*number);
}

bool same_attribute(const Attribute& a, const Attribute& b) {
    if (a.name != b.name || a.value.index() != b.value.index()) return false;
    return std::holds_alternative<double>(a.value) ? bits_of(a) == bits_of(b) : a.value == b.value;
}

}  // namespace

std::size_t Descs::Hash::operator()(const TensorDesc& desc) const {
    std::size_t seed = static_cast<std::size_t>(desc.dtype) * 2 + (desc.bound ? 1 : 0);
    types::mix(seed, desc.shape);
    types::mix(seed, desc.strides);
    types::mix(seed, std::hash<std::string>()(desc.layout));
    return seed;
}

std::size_t ShortProblem::hash() const {
    std::size_t seed = std::hash<std::string>()(definition);
    types::mix(seed, body.hash());
    for (const int result : results) types::mix(seed, static_cast<std::size_t>(result));
    for (const Attribute& attribute : attributes) {
        types::mix(seed, bits_of(attribute));
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) types::mix(seed, *list);
    }
    for (const auto* tensors : {&inputs, &outputs}) {
        types::mix(seed, tensors->size());
        for (const TensorDesc* tensor : *tensors) types::mix(seed, std::hash<const void*>()(tensor));
    }
    return seed;
}

bool operator==(const ShortProblem& a, const ShortProblem& b) {
    return a.definition == b.definition && a.results == b.results && a.inputs == b.inputs && a.outputs == b.outputs &&
           a.body == b.body &&
           std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
                      same_attribute);
}

ShortProblem shortened(const Problem& problem, Descs& descs) {
    ShortProblem result{problem.definition, problem.attributes, fuse::Body(problem.body), problem.results, {}, {}};
    for (const TensorDesc& desc : problem.inputs) result.inputs.push_back(descs.of(desc));
    for (const TensorDesc& desc : problem.outputs) result.outputs.push_back(descs.of(desc));
    return result;
}

const Problem& AskedProblem::operator*() const {
    if (stored_->whole == nullptr) {
        const ShortProblem& words = stored_->problem;
        auto whole = std::make_unique<Problem>(
            Problem{words.definition, words.attributes, words.body.steps(), words.results, {}, {}});
        whole->inputs.reserve(words.inputs.size());
        for (const TensorDesc* desc : words.inputs) whole->inputs.push_back(*desc);
        whole->outputs.reserve(words.outputs.size());
        for (const TensorDesc* desc : words.outputs) whole->outputs.push_back(*desc);
        stored_->whole = std::move(whole);
    }
    return *stored_->whole;
}

}  // namespace cairn::inline v0::select
