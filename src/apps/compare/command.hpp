#pragma once

#include "apps/compare/child_process.hpp"
#include "apps/compare/implementation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>

namespace cairn::compare {

/// An implementation that is a process: one JSON object a line each way. docs/compare.md describes the protocol.
///
///     {"id": 0, "op": "load", "task": "classify", "threads": 2, ...}   ->   {"id": 0, "load_seconds": 0.8}
///     {"id": 1, "op": "answer", "rows": ["fine"]}   ->   {"id": 1, "seconds": 0.01, "answers": [{"label": "good"}]}
class Command : public Implementation {
public:
    Command(const ImplementationSettings& implementation, const Settings& settings);
    Loaded load(const std::stop_token& stop) override;
    Reply answer(std::span<const DataRow> rows, const std::stop_token& stop) override;
    std::optional<double> peak_bytes() override;

private:
    /// Sends a request and returns the answer to it, with the seconds between.
    nlohmann::json ask(nlohmann::json request, double& seconds, const std::stop_token& stop);

    ImplementationSettings implementation_;
    const Settings& settings_;
    std::unique_ptr<ChildProcess> process_;
    std::int64_t next_id_ = 0;
    double peak_ = 0;
};

}  // namespace cairn::compare
