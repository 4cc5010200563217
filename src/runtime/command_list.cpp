#include "runtime/command_list.hpp"

#include <algorithm>
#include <chrono>

namespace cairn::runtime {

CommandList::CommandList(std::span<const device::KernelLaunch> launches, std::span<device::Backend* const> backends,
                         std::span<const std::int64_t> symbols)
    : count_(static_cast<std::int64_t>(launches.size())) {
    std::size_t first = 0;
    do {
        std::size_t end = first;
        while (end < launches.size() && backends[end] == backends[first]) ++end;
        if (end > first)
            segments_.push_back({static_cast<std::int64_t>(first), backends[first],
                                 backends[first]->record(launches.subspan(first, end - first), symbols)});
        first = end;
    } while (first < launches.size());
}

void CommandList::update() {
    for (Segment& segment : segments_) segment.commands->update();
}

int CommandList::threads() const noexcept {
    int most = 1;
    for (const Segment& segment : segments_) most = std::max(most, segment.commands->threads());
    return most;
}

class CommandList::Part {
public:
    Part(device::Submission& whole, const Segment& segment, int threads, double began)
        : whole_(whole), first_(segment.first), began_(began) {
        part_.caller = this;
        if (whole.should_stop != nullptr)
            part_.should_stop = [](void* self) {
                const device::Submission& of = static_cast<Part*>(self)->whole_;
                return of.should_stop(of.caller);
            };
        if (whole.progress != nullptr)
            part_.progress = [](void* self, std::int64_t done) {
                const Part& part = *static_cast<Part*>(self);
                part.whole_.progress(part.whole_.caller, part.first_ + done);
            };
        if (whole.spans == nullptr) return;
        width_ = static_cast<std::size_t>(threads);
        own_width_ = static_cast<std::size_t>(segment.commands->threads());
        spans_.resize(segment.commands->launches().size() * own_width_);
        part_.spans = spans_.data();
    }

    /// Runs the segment. False if the whole submission ends here.
    bool run(device::CommandBuffer& commands, const device::StreamOptions& options) {
        part_.stream_options = options;
        commands.run(part_);
        return note_outcome();
    }
    void wait(device::CommandBuffer& commands) {
        commands.wait(part_);
        note_outcome();
    }

private:
    bool note_outcome() {
        if (part_.reached >= 0) whole_.reached = first_ + part_.reached;
        if (part_.stopped >= 0) whole_.stopped = first_ + part_.stopped;
        if (part_.failed >= 0) whole_.failed = first_ + part_.failed;
        whole_.thrown = part_.thrown;
        whole_.failure = part_.failure;
        for (std::size_t i = 0; i < spans_.size(); ++i)
            if (const device::TimeSpan& span = spans_[i]; span.end > span.begin)
                whole_.spans[(static_cast<std::size_t>(first_) + i / own_width_) * width_ + i % own_width_] = {
                    began_ + span.begin, began_ + span.end};
        return part_.stopped < 0 && part_.failed < 0 && part_.thrown == nullptr;
    }

    device::Submission& whole_;
    std::int64_t first_;
    double began_;
    device::Submission part_;
    std::size_t width_ = 1, own_width_ = 1;
    std::vector<device::TimeSpan> spans_;
};

void CommandList::run(device::Submission& submission, const device::Backend* streaming) {
    const device::StreamOptions whole = submission.stream_options;
    const auto options_of = [&](const Segment& segment) {
        return device::StreamOptions{segment.backend == streaming ? whole.stream : std::nullopt,
                                     whole.wait || &segment != &segments_.back()};
    };
    if (segments_.size() == 1) {
        submission.stream_options = options_of(segments_.front());
        return segments_.front().commands->run(submission);
    }
    submission.count = count_;
    const int width = threads();
    const auto begin = std::chrono::steady_clock::now();
    for (Segment& segment : segments_) {
        const std::chrono::duration<double> began = std::chrono::steady_clock::now() - begin;
        if (!Part(submission, segment, width, began.count()).run(*segment.commands, options_of(segment))) return;
    }
}

bool CommandList::is_pending() const noexcept { return !segments_.empty() && segments_.back().commands->is_pending(); }

void CommandList::wait(device::Submission& submission) {
    if (segments_.empty()) return;
    submission.count = count_;
    Part(submission, segments_.back(), 1, 0).wait(*segments_.back().commands);
}

}  // namespace cairn::runtime
