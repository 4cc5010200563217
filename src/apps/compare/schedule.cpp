#include "apps/compare/schedule.hpp"

#include "apps/compare/calibration.hpp"
#include "apps/compare/stopwatch.hpp"
#include "cairn/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace cairn::compare {
namespace {

/// One implementation during the turns.
class Runner {
public:
    Runner(const Settings& settings, std::span<const DataRow> rows, const ImplementationSettings& implementation,
           const std::stop_token& stop)
        : settings_(settings), rows_(rows), implementation_(implementation), stop_(stop) {
        for (const std::int64_t size : settings.measure.batch_sizes) result.batches.push_back({size});
    }

    void prepare(const ImplementationMaker& make) {
        guarded([&] {
            made_ = make(implementation_, settings_);
            result.loaded = made_->load(stop_);
            for (const BatchTimes& batch : result.batches)
                for (std::int64_t request = 0; request < settings_.measure.warm_up; ++request)
                    reply_to(request, batch.batch_size);
            answer_all_rows();
            result.peak_bytes = made_->peak_bytes();
        });
    }

    void take_turn(std::int64_t turn, double calibration) {
        if (made_ == nullptr) return;
        result.calibration.push_back(calibration);
        guarded([&] {
            const std::int64_t iterations = settings_.measure.iterations;
            for (BatchTimes& batch : result.batches)
                for (std::int64_t i = 0; i < iterations; ++i) {
                    const Stopwatch watch;
                    const Reply reply = reply_to(turn * iterations + i, batch.batch_size);
                    batch.round_trips.push_back(watch.seconds());
                    if (reply.own_seconds) batch.own.push_back(*reply.own_seconds);
                }
            result.peak_bytes = made_->peak_bytes();
        });
    }

    bool is_running() const { return made_ != nullptr; }
    Measured result;

private:
    /// Answers request number `number`, whose rows follow those of the one before; the first row follows the last one.
    Reply reply_to(std::int64_t number, std::int64_t batch_size) {
        const auto count = static_cast<std::size_t>(batch_size), all = rows_.size() - surplus();
        return made_->answer(rows_.subspan(static_cast<std::size_t>(number) * count % all, count), stop_);
    }

    /// Rows at the end that repeat the first ones, so that the rows of each request are contiguous.
    std::size_t surplus() const { return static_cast<std::size_t>(std::ranges::max(settings_.measure.batch_sizes)); }

    void answer_all_rows() {
        const std::size_t all = rows_.size() - surplus();
        const auto step = static_cast<std::size_t>(settings_.measure.batch_sizes.front());
        std::vector<Answer> answers;
        for (std::size_t first = 0; first < all; first += step) {
            const Reply reply = made_->answer(rows_.subspan(first, std::min(step, all - first)), stop_);
            answers.insert(answers.end(), reply.answers.begin(), reply.answers.end());
        }
        for (Answer& answer : answers)
            if (const auto name = implementation_.rename_labels.find(answer.label);
                name != implementation_.rename_labels.end())
                answer.label = name->second;
        result.answers = std::move(answers);
    }

    /// A failure of the implementation ends it; Cancelled passes.
    void guarded(const std::function<void()>& work) {
        try {
            work();
        } catch (const Cancelled&) { throw; } catch (const std::exception& error) {
            result.error = error.what();
            made_.reset();
        }
    }

    const Settings& settings_;
    std::span<const DataRow> rows_;
    const ImplementationSettings& implementation_;
    const std::stop_token& stop_;
    std::unique_ptr<Implementation> made_;
};

/// The rows, and after them the first ones again, as many as the largest batch has.
std::vector<DataRow> repeated_rows(const Dataset& data, std::int64_t largest_batch) {
    std::vector<DataRow> rows = data.rows;
    for (std::int64_t i = 0; i < largest_batch; ++i)
        rows.push_back(data.rows[static_cast<std::size_t>(i) % data.rows.size()]);
    return rows;
}

}  // namespace

Measurements measure(const Settings& settings, const Dataset& data, const ImplementationMaker& make,
                     const std::function<void(std::string_view)>& progress, const std::stop_token& stop) {
    const std::vector<DataRow> rows = repeated_rows(data, std::ranges::max(settings.measure.batch_sizes));
    std::vector<std::unique_ptr<Runner>> runners;
    for (const ImplementationSettings& implementation : settings.implementations)
        runners.push_back(std::make_unique<Runner>(settings, rows, implementation, stop));
    Measurements measurements;
    try {
        for (std::size_t i = 0; i < runners.size(); ++i) {
            if (stop.stop_requested()) throw Cancelled("compare");
            progress("loading " + settings.implementations[i].name);
            runners[i]->prepare(make);
        }
        Calibration calibration(settings.measure.threads);
        for (std::int64_t turn = 0; turn < settings.measure.turns; ++turn)
            for (std::size_t i = 0; i < runners.size(); ++i) {
                const std::size_t which = (static_cast<std::size_t>(turn) + i) % runners.size();
                if (stop.stop_requested()) throw Cancelled("compare");
                if (!runners[which]->is_running()) continue;
                progress(fmt::format("turn {} of {}: {}", turn + 1, settings.measure.turns,
                                     settings.implementations[which].name));
                runners[which]->take_turn(turn, calibration.measure());
            }
    } catch (const Cancelled&) { measurements.is_complete = false; }
    for (const auto& runner : runners) measurements.implementations.push_back(std::move(runner->result));
    return measurements;
}

}  // namespace cairn::compare
