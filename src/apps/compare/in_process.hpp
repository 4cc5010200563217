#pragma once

#include "apps/compare/implementation.hpp"
#include "cairn/compile.hpp"

namespace cairn::compare {

/// What is common to the implementations in this process: Context and compile options, times of loading. The memory of
/// one is what the resident memory of the process has grown by, at its peak, from before it was loaded to the first
/// call of peak_bytes().
class InProcess : public Implementation {
public:
    InProcess(const ImplementationSettings& implementation, const Settings& settings);
    Loaded load(const std::stop_token& stop) final;
    Reply answer(std::span<const DataRow> rows, const std::stop_token& stop) final;
    std::optional<double> peak_bytes() final;

protected:
    /// Reads, compiles and binds with compile_options().
    virtual void load_model(const Context& context, const CompileOptions& options) = 0;
    virtual std::vector<Answer> answers(std::span<const DataRow> rows, const std::stop_token& stop) = 0;

    const ImplementationSettings& implementation() const noexcept { return implementation_; }
    const Settings& settings() const noexcept { return settings_; }
    /// The largest batch size.
    std::int64_t max_batch() const;

private:
    ImplementationSettings implementation_;
    const Settings& settings_;
    std::optional<double> resident_before_{}, peak_bytes_{};
};

}  // namespace cairn::compare
