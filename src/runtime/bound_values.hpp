#pragma once

#include "device/backend.hpp"
#include "runtime/packed_file.hpp"
#include "runtime/program_set.hpp"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

/// Declares bound values: weights, and values computed from them once at bind (casts, packed forms). Shared by all
/// instances of a CompiledGraph.
namespace cairn::runtime {

/// Owner of a borrowed InputView: releases it on destruction.
class ScopedInputView {
public:
    ScopedInputView() = default;
    explicit ScopedInputView(InputView view) noexcept : view_(std::move(view)) {}
    ScopedInputView(ScopedInputView&& other) noexcept : view_(std::exchange(other.view_, {})) {}
    ScopedInputView& operator=(ScopedInputView&& other) noexcept {
        std::swap(view_, other.view_);
        return *this;
    }
    ~ScopedInputView() {
        if (view_.release != nullptr) view_.release(view_.owner);
    }
    const InputView& view() const noexcept { return view_; }

private:
    InputView view_;
};

/// Memory of a program's weights and bound values, shared with other programs that read them.
struct BoundMemory {
    using ByName = std::map<std::string, std::shared_ptr<const std::byte>>;
    ByName weights, values;

    /// The map for the buffer's kind.
    ByName& by_kind(const program::Buffer& buffer) {
        return buffer.kind == program::BufferKind::weight ? weights : values;
    }
    const ByName& by_kind(const program::Buffer& buffer) const {
        return buffer.kind == program::BufferKind::weight ? weights : values;
    }

    /// The address of a weight, constant or bound buffer of a program; null for other kinds.
    std::byte* find(const program::Buffer& buffer) const;
};

/// A linked program and the weights and bound values that its runs read. Memory that no program reads any more is
/// freed.
struct BoundProgram {
    BoundProgram(const program::Program& program, const Context& context, CompiledCodes& codes,
                 const std::stop_token& stop)
        : linked(program, context, codes, stop) {}

    LinkedProgram linked;
    BoundMemory memory = {};  ///< set when weights are bound
};

/// Arguments of one bind().
struct BindRequest {
    const WeightSource& source;
    const PackedFile* packed = nullptr;  ///< null: packed weights are not stored for the next process
    const ProgressSink& progress;
    const std::stop_token& stop;
};

/// Binds the weights of a CompiledGraph once.
class BoundValues {
public:
    /// Runs the bind sections of all programs, each value once, in an order in which every weight and intermediate
    /// value can be freed right after its last use. On failure nothing is bound. Thread-safe: one thread binds and the
    /// others wait. Throws Error(argument) if already bound, Error(busy) from inside a bind of the same thread.
    void bind(const std::vector<std::shared_ptr<BoundProgram>>& programs, Context::Impl& context,
              const BindRequest& request);
    bool ready() const noexcept { return ready_.load(std::memory_order_acquire); }

private:
    class BindLock;

    std::atomic<bool> ready_{false};
    std::mutex mutex_;
    std::condition_variable_any binding_done_;
    std::thread::id binder_;  // the thread that binds; none if default-constructed
};

}  // namespace cairn::runtime
