#pragma once

#include "cairn/compile.hpp"

#include <string>
#include <string_view>

namespace cairn::driver {

/// Cancellation, progress reports, dumps and checks around the stages of one bucket. The stages themselves only
/// transform their input into their output.
class StageDriver {
public:
    /// The options must outlive this object and its copies.
    StageDriver(const CompileOptions& options, std::string_view bucket) : options_(&options), bucket_(bucket) {}

    bool enabled(std::string_view stage) const;
    /// Throws Cancelled if a stop was requested.
    void check_cancelled() const;
    void begin(std::string_view stage);

    /// `check` returns the first fault of the stage's result, `text` its text form. Each is called only if needed.
    template <typename Check, typename Text>
    void end(std::string_view stage, const Check& check, const Text& text) {
        if (options_->verify)
            if (const std::string fault = check(); !fault.empty()) throw InternalError(stage, fault);
        if (!options_->dump_stages.empty()) dump(stage, text());
    }

private:
    void dump(std::string_view stage, std::string text);

    const CompileOptions* options_;
    std::string bucket_, last_;
    int number_ = 0;
};

/// The options without dumps, checks and progress, for programs that are compiled only to be inspected.
CompileOptions without_diagnostics(CompileOptions options);

}  // namespace cairn::driver
