#pragma once

#include "cairn/compile.hpp"

#include <string>
#include <string_view>

namespace cairn::driver {

/// What surrounds the stages of one bucket: cancelling, progress, dumps, checks. A stage itself only turns its input
/// into its output.
class StageDriver {
public:
    /// The options must outlive it and its copies.
    StageDriver(const CompileOptions& options, std::string_view bucket) : options_(&options), bucket_(bucket) {}

    bool enabled(std::string_view stage) const;
    /// Throws Cancelled on a stop.
    void check_cancelled() const;
    void begin(std::string_view stage);

    /// `check` gives the first fault of the stage's result; `text` its text form. Both are asked for only where wanted.
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

/// The same without dumps, checks and progress: for programs that are made to be looked at only.
CompileOptions without_diagnostics(CompileOptions options);

}  // namespace cairn::driver
