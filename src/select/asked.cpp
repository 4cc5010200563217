#include "select/asked.hpp"

#include "types/hash.hpp"
#include "types/pooled.hpp"

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
    std::size_t seed = std::hash<std::string_view>()(definition);
    types::mix(seed, body->hash());
    for (const int result : results) types::mix(seed, static_cast<std::size_t>(result));
    for (const Attribute& attribute : *attributes) {
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
    return a.definition == b.definition && std::ranges::equal(a.results, b.results) &&
           std::ranges::equal(a.inputs, b.inputs) && std::ranges::equal(a.outputs, b.outputs) && *a.body == *b.body &&
           std::ranges::equal(*a.attributes, *b.attributes, same_attribute);
}

KeptProblem::KeptProblem(const ShortProblem& problem, std::pmr::memory_resource& pool)
    : attributes_(*problem.attributes), body_(*problem.body), words_(problem) {
    const std::span<const char> name = types::pooled(std::span<const char>(problem.definition), pool);
    words_.definition = {name.data(), name.size()};
    words_.attributes = &attributes_;
    words_.body = &body_;
    words_.results = types::pooled(problem.results, pool);
    words_.inputs = types::pooled(problem.inputs, pool);
    words_.outputs = types::pooled(problem.outputs, pool);
}

const std::shared_ptr<const Problem>& KeptProblem::whole() const {
    if (whole_ == nullptr) {
        auto whole = std::make_shared<Problem>();
        whole->definition = words_.definition;
        whole->attributes = attributes_;
        whole->body = body_.steps();
        whole->results.assign(words_.results.begin(), words_.results.end());
        whole->inputs.reserve(words_.inputs.size());
        for (const TensorDesc* desc : words_.inputs) whole->inputs.push_back(*desc);
        whole->outputs.reserve(words_.outputs.size());
        for (const TensorDesc* desc : words_.outputs) whole->outputs.push_back(*desc);
        whole_ = std::move(whole);
    }
    return whole_;
}

}  // namespace cairn::inline v0::select
