#include "device/cuda/time_calls.hpp"

#include "device/cuda/bound_launch.hpp"
#include "device/cuda/event.hpp"
#include "device/cuda/executable_graph.hpp"
#include "device/cuda/stream_capture.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cairn::device::cuda {
namespace {

// Calls of a graph. More are several graphs, whose launches follow one another without a gap.
constexpr std::int64_t max_captured_calls = 1024;

/// The calls between two events.
class CallSequence {
public:
    CallSequence(const std::shared_ptr<CudaDevice>& device, const TimedCalls& calls, const ProgramArguments& program)
        : device_(device),
          count_(calls.count),
          bound_(program, calls.inputs + calls.outputs, 0),
          arguments_(calls.arguments()),
          begin_(device),
          end_(device) {
        launch_.inputs = calls.inputs;
        launch_.outputs = calls.outputs;
        launch_.code = calls.code;
        launch_.grid = calls.grid;
        launch_.enqueued = calls.enqueued;
        launch_.copy_bytes = calls.copy_bytes;
    }

    void submit() {
        begin_.record(device_->stream());
        for (std::int64_t call = 0; call < count_; ++call) {
            bind_next();
            bound_.submit(*device_, device_->stream());
        }
        end_.record(device_->stream());
    }
    void submit_as_graphs() {
        std::int64_t done = 0;
        do {
            StreamCapture capture(*device_,
                                  launch_.enqueued != nullptr ? CaptureMode::relaxed : CaptureMode::thread_local_mode);
            if (done == 0) begin_.capture(capture.stream());
            const BoundLaunch* previous = nullptr;
            for (const std::int64_t end = std::min(count_, done + max_captured_calls); done < end; ++done) {
                bind_next();
                if (!bound_.has_work()) continue;
                bound_.capture(*device_, capture.stream(), previous);
                previous = &bound_;
            }
            if (done >= count_) end_.capture(capture.stream());
            graphs_.emplace_back(device_, capture.end(), device_->stream());
        } while (done < count_);
        for (ExecutableGraph& graph : graphs_) graph.launch(device_->stream());
    }
    double seconds() const { return end_.seconds_since(begin_); }

private:
    void bind_next() {
        launch_.args = arguments_->next();
        bound_.bind(launch_, *device_);
    }

    const std::shared_ptr<CudaDevice>& device_;
    std::int64_t count_;
    KernelLaunch launch_;
    BoundLaunch bound_;
    std::unique_ptr<CallArguments> arguments_;
    Event begin_, end_;
    std::vector<ExecutableGraph> graphs_;
};

}  // namespace

double time_calls(const std::shared_ptr<CudaDevice>& device, const TimedCalls& calls, bool graphs,
                  std::optional<Failure>& failure) {
    const CurrentContext current(*device);
    ProgramArguments program(device, calls.symbols);
    CallSequence sequence(device, calls, program);
    try {
        program.submit_symbols(device->stream());
        if (graphs && (calls.code != nullptr || calls.enqueued != nullptr))
            sequence.submit_as_graphs();
        else
            sequence.submit();
        device->synchronize();
    } catch (...) {
        // Nothing may run on when the arguments are destroyed.
        device->calls().release(&DriverTable::stream_synchronize, device->stream());
        throw;
    }
    std::int64_t instruction = 0;
    failure = program.failure(instruction);
    return sequence.seconds();
}

}  // namespace cairn::device::cuda
