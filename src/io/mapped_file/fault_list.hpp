#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "io/mapped_file/file_error.hpp"

namespace cairn::files {

/// Collects faults of one kind, to report all of them in one message.
class FaultList {
public:
    void add(std::string fault) {
        if (++count_ <= max_shown) text_ += (text_.empty() ? "" : "; ") + std::move(fault);
    }
    void throw_if_any(std::string_view format, std::string_view file) const {
        if (count_ == 0) return;
        const auto more = count_ > max_shown ? "; and " + std::to_string(count_ - max_shown) + " more" : "";
        throw file_error(format, file, text_ + more);
    }

private:
    static constexpr std::size_t max_shown = 20;
    std::string text_;
    std::size_t count_ = 0;
};

}  // namespace cairn::files
