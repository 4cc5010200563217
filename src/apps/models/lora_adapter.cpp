#include "apps/models/lora_adapter.hpp"

#include "apps/models/model_file.hpp"
#include "cairn/error.hpp"
#include "cairn/weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cairn::inline v0::models {
namespace {

float widened_f16(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = 0;
    if (exponent == 31)
        magnitude = fraction == 0 ? INFINITY : NAN;
    else
        magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                  : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return bits >> 15 != 0 ? -magnitude : magnitude;
}

template <typename T, typename F>
std::vector<float> converted(const void* data, std::size_t count, F to_float) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        T element;
        std::memcpy(&element, static_cast<const std::byte*>(data) + i * sizeof(T), sizeof(T));
        values[i] = to_float(element);
    }
    return values;
}

std::string sizes_text(std::int64_t rows, std::int64_t columns) {
    return '[' + std::to_string(rows) + ',' + std::to_string(columns) + ']';
}

bool are_finite(const std::vector<float>& values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// Sorts and checks the updates.
LoraAdapter::State checked(LoraAdapter::State state, ErrorKind kind) {
    std::ranges::sort(state.updates, {}, &LoraUpdate::module);
    FaultList faults;
    const LoraUpdate* before = nullptr;
    for (const LoraUpdate& update : state.updates) {
        const auto fault = [&](const std::string& what) { faults.add(update.module + ' ' + what); };
        constexpr std::int64_t most = std::int64_t{1} << 31;
        const auto fits = [&](std::int64_t rows, std::int64_t columns, std::size_t count) {
            return rows >= 1 && columns >= 1 && rows <= most && columns <= most &&
                   static_cast<std::int64_t>(count) == rows * columns;
        };
        if (before != nullptr && before->module == update.module) fault("is named twice");
        if (!fits(update.rank, update.in, update.a.size()) || !fits(update.out, update.rank, update.b.size()))
            fault("has other elements than a " + sizes_text(update.rank, update.in) + " and b " +
                  sizes_text(update.out, update.rank));
        else if (!are_finite(update.a) || !are_finite(update.b))
            fault("has an element that is not finite");
        if (!(std::abs(update.scale) <= std::numeric_limits<float>::max())) fault("has a scale that is not finite");
        before = &update;
    }
    for (const SavedTensor& tensor : state.saved)
        if (!are_finite(tensor.values)) faults.add(tensor.name + " has an element that is not finite");
    if (!faults.empty()) throw Error(kind, "adapter", state.origin + ": " + faults.text());
    if (state.updates.empty() && state.saved.empty())
        throw Error(kind, "adapter", state.origin + ": it changes no module");
    return state;
}

}  // namespace

std::vector<float> floats_of(const InputView& view, const std::string& origin, const std::string& name) {
    std::size_t count = 1;
    for (const std::int64_t size : view.shape) count *= static_cast<std::size_t>(size);
    std::vector<float> values;
    const DType dtype = view.dtype;
    switch (dtype) {
        case DType::f32: values = converted<float>(view.data, count, [](float x) { return x; }); break;
        case DType::f64:
            values = converted<double>(view.data, count, [](double x) { return static_cast<float>(x); });
            break;
        case DType::f16: values = converted<std::uint16_t>(view.data, count, widened_f16); break;
        case DType::bf16:
            values = converted<std::uint16_t>(
                view.data, count, [](std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); });
            break;
        default: break;
    }
    if (view.release != nullptr) view.release(view.owner);
    if (!is_float(dtype)) throw Error(ErrorKind::unsupported, "adapter", origin + ": " + name + " is not of floats");
    return values;
}

LoraAdapter LoraAdapter::read(const std::filesystem::path& path) {
    State state = checked(is_gguf(path) ? read_gguf_adapter(path) : read_peft(path), ErrorKind::file);
    return LoraAdapter(std::make_shared<const State>(std::move(state)));
}

LoraAdapter::LoraAdapter(std::string name, std::vector<LoraUpdate> updates) {
    State state;
    state.origin = std::move(name);
    state.updates = std::move(updates);
    state_ = std::make_shared<const State>(checked(std::move(state), ErrorKind::argument));
}

const std::vector<LoraUpdate>& LoraAdapter::updates() const noexcept { return state_->updates; }

std::int64_t LoraAdapter::rank() const noexcept {
    std::int64_t most = 0;
    for (const LoraUpdate& update : state_->updates) most = std::max(most, update.rank);
    return most;
}

}  // namespace cairn::inline v0::models
