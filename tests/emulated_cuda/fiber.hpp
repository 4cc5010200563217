#pragma once

#include <cstddef>
#include <memory>

namespace cairn::emulated_cuda {

/// Fibers with stacks of their own, which run one at a time on the thread that resumes them. Fiber i executes
/// `body(context, i)`; a fiber whose body has returned is not resumed again before a restart.
class Fibers {
public:
    using Body = void (*)(void* context, std::size_t fiber);

    /// Throws std::bad_alloc if the address space for the stacks is not available.
    Fibers(std::size_t count, std::size_t stack_bytes, Body body, void* context);
    ~Fibers();
    Fibers(const Fibers&) = delete;
    Fibers& operator=(const Fibers&) = delete;

    std::size_t count() const noexcept;
    /// Continues a fiber until it suspends or its body returns.
    void resume(std::size_t fiber);
    /// Returns from resume(); called by the running fiber.
    void suspend();
    /// Suspends the running fiber, which calls this, and continues another one in its place.
    void pass_to(std::size_t fiber);
    /// Lets a fiber start again: its body is called by the next resume. What was on its stack is abandoned without
    /// destructors.
    void restart(std::size_t fiber);
    /// The fiber whose stack contains the address, or count().
    std::size_t owner(const void* address) const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
    std::size_t count_;
};

}  // namespace cairn::emulated_cuda
