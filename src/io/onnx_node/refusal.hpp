#pragma once

#include <stdexcept>

namespace cairn::inline v0::onnx {

/// Thrown where a node cannot be imported; `what()` is the reason, a sentence without the node's name.
class Refusal : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace cairn::inline v0::onnx
