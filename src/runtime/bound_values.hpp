#pragma once

#include "device/cpu/arena.hpp"
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

/// Weights, and what is computed from them once: casts, packed forms. One for a CompiledGraph and all its instances.
namespace cairn::runtime {

/// A borrowed InputView that gives it back when it goes.
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

/// Where the weights and bound values of a program lie, shared with other programs that read them.
struct BoundMemory {
    using ByName = std::map<std::string, std::shared_ptr<const std::byte>>;
    ByName weights, values;

    /// Of these the ones of the buffer's kind.
    ByName& by_kind(const program::Buffer& buffer) {
        return buffer.kind == program::BufferKind::weight ? weights : values;
    }
    const ByName& by_kind(const program::Buffer& buffer) const {
        return buffer.kind == program::BufferKind::weight ? weights : values;
    }

    /// Where a weight, constant or bound buffer of a program lies; null for other kinds.
    std::byte* find(const program::Buffer& buffer) const;
};

/// A linked program and what of the weights it reads in runs. What no program reads any more is given back.
struct BoundProgram {
    BoundProgram(const program::Program& program, const Context& context, const std::stop_token& stop)
        : linked(program, context, stop) {}

    LinkedProgram linked;
    BoundMemory memory = {};  ///< once weights are bound
};

/// What one bind() was called with.
struct BindRequest {
    const WeightSource& source;
    const PackedFile* packed = nullptr;  ///< none: nothing is kept for the next process
    const ProgressSink& progress;
    const std::stop_token& stop;
};

class BoundValues {
public:
    /// Runs the bind sections of all programs, each value once, in an order that lets every weight and intermediate
    /// value go right after its last use. On failure nothing is bound. Of several threads one binds and the others
    /// wait; once bound it throws Error(argument), from inside a bind of the same thread Error(busy).
    void bind(const std::vector<std::shared_ptr<BoundProgram>>& programs, Context::Impl& context,
              const BindRequest& request);
    bool ready() const noexcept { return ready_.load(std::memory_order_acquire); }

private:
    class BindLock;

    std::atomic<bool> ready_{false};
    std::mutex mutex_;
    std::condition_variable_any binding_done_;
    std::thread::id binder_;  // who binds; nobody when default-made
};

}  // namespace cairn::runtime
