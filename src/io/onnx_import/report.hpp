#pragma once

#include "cairn/onnx/import.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::inline v0::onnx {

/// Collects what cannot be imported: equal reasons of one operator are counted.
class Report {
public:
    void add(Unsupported entry);
    bool empty() const noexcept { return entries_.empty(); }
    std::vector<Unsupported>& entries() noexcept { return entries_; }

private:
    std::vector<Unsupported> entries_;
};

}  // namespace cairn::inline v0::onnx
