#include "selection/candidates/interned_problem.hpp"

#include "graph/types/hash.hpp"
#include "graph/types/pool_copy.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace cairn::selection {
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

std::size_t TensorDescInterner::Hash::operator()(const TensorDesc& desc) const {
    std::size_t seed = static_cast<std::size_t>(desc.dtype) * 2 + (desc.bound ? 1 : 0);
    types::hash_combine(seed, desc.shape);
    types::hash_combine(seed, desc.strides);
    types::hash_combine(seed, std::hash<std::string>()(desc.layout));
    return seed;
}

std::size_t ProblemRef::hash() const {
    std::size_t seed = std::hash<std::string_view>()(definition);
    types::hash_combine(seed, body->hash());
    for (const int result : results) types::hash_combine(seed, static_cast<std::size_t>(result));
    for (const Attribute& attribute : *attributes) {
        types::hash_combine(seed, bits_of(attribute));
        if (const auto* list = std::get_if<std::vector<Dim>>(&attribute.value)) types::hash_combine(seed, *list);
    }
    for (const auto* tensors : {&inputs, &outputs}) {
        types::hash_combine(seed, tensors->size());
        for (const TensorDesc* tensor : *tensors) types::hash_combine(seed, std::hash<const void*>()(tensor));
    }
    return seed;
}

bool operator==(const ProblemRef& a, const ProblemRef& b) {
    return a.definition == b.definition && std::ranges::equal(a.results, b.results) &&
           std::ranges::equal(a.inputs, b.inputs) && std::ranges::equal(a.outputs, b.outputs) && *a.body == *b.body &&
           std::ranges::equal(*a.attributes, *b.attributes, same_attribute);
}

InternedProblem::InternedProblem(const ProblemRef& problem, std::pmr::memory_resource& pool)
    : attributes_(*problem.attributes), body_(*problem.body), ref_(problem) {
    const std::span<const char> name = types::copy_to_pool(std::span<const char>(problem.definition), pool);
    ref_.definition = {name.data(), name.size()};
    ref_.attributes = &attributes_;
    ref_.body = &body_;
    ref_.results = types::copy_to_pool(problem.results, pool);
    ref_.inputs = types::copy_to_pool(problem.inputs, pool);
    ref_.outputs = types::copy_to_pool(problem.outputs, pool);
}

const std::shared_ptr<const Problem>& InternedProblem::materialize() const {
    if (materialized_ == nullptr) {
        auto whole = std::make_shared<Problem>();
        whole->definition = ref_.definition;
        whole->attributes = attributes_;
        whole->body = body_.steps();
        whole->results.assign(ref_.results.begin(), ref_.results.end());
        whole->inputs.reserve(ref_.inputs.size());
        for (const TensorDesc* desc : ref_.inputs) whole->inputs.push_back(*desc);
        whole->outputs.reserve(ref_.outputs.size());
        for (const TensorDesc* desc : ref_.outputs) whole->outputs.push_back(*desc);
        materialized_ = std::move(whole);
    }
    return materialized_;
}

}  // namespace cairn::selection
