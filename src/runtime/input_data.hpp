#pragma once

#include "runtime/instance.hpp"

#include <span>
#include <string_view>

/// Giving inputs their data, and symbols their values. Everything is checked before anything changes.
namespace cairn::runtime {

/// Throws Error(argument) when out of bounds, or the length of a state.
void set_size(Instance& instance, std::string_view symbol, std::int64_t value);

/// Borrows `data`, which holds what the input's dtype and `shape` say.
void set_input(Instance& instance, std::string_view name, const void* data, std::span<const std::int64_t> shape);
/// Borrows dense memory, copies strided memory.
void set_input(Instance& instance, std::string_view name, const InputView& view);
/// Borrows elements, or copies temporary ones. Without a shape it follows from their number.
void set_input(Instance& instance, std::string_view name, const detail::ElementSpan& elements,
               const std::span<const std::int64_t>* shape);

/// Throws Error(argument) unless elements of type `given` are what an "input", an "output" or a "state" is made of.
void check_dtype(std::string_view part, std::string_view kind, std::string_view name, const TensorDesc& desc,
                 DType given);

}  // namespace cairn::runtime
