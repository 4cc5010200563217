#pragma once

#include "runtime/instance.hpp"

#include <span>
#include <string_view>

/// Declares setting of inputs and symbols. Everything is checked before anything changes.
namespace cairn::runtime {

/// Sets a symbol. Throws Error(argument) if the value is out of bounds or would change the length of a state.
void set_size(Instance& instance, std::string_view symbol, std::int64_t value);

/// Sets an input. Borrows `data`, dense elements of the input's dtype in this shape.
void set_input(Instance& instance, std::string_view name, const void* data, std::span<const std::int64_t> shape);
/// Sets an input. Borrows dense memory, copies strided memory.
void set_input(Instance& instance, std::string_view name, const InputView& view);
/// Sets an input. Borrows elements, or copies temporary ones. A missing shape is derived from their number.
void set_input(Instance& instance, std::string_view name, const detail::ElementSpan& elements,
               const std::span<const std::int64_t>* shape);

/// Throws Error(argument) unless `given` is the element type of `desc`. `kind` is "input", "output" or "state".
void check_dtype(std::string_view part, std::string_view kind, std::string_view name, const TensorDesc& desc,
                 DType given);
/// Throws Error(argument) if a caller's memory is not that of a device. `kind` as above.
void check_memory(const Context::Impl& context, Device device, const void* data, std::string_view part,
                  std::string_view kind, std::string_view name);

}  // namespace cairn::runtime
