#include "tests/emulated_cuda/fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAIRN_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define CAIRN_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CAIRN_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CAIRN_TSAN 1
#endif

#if defined(CAIRN_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CAIRN_TSAN)
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__)
#define CAIRN_UCONTEXT 1
#endif
#if defined(CAIRN_UCONTEXT)
#include <ucontext.h>
#else
extern "C" void cairn_switch_stack(void** saved, void* next);
// Saves the registers that a called function keeps on the stack, and continues on another stack.
asm(R"(
    .text
    .p2align 4
    .globl cairn_switch_stack
    .hidden cairn_switch_stack
    .type cairn_switch_stack, @function
cairn_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cairn_switch_stack, . - cairn_switch_stack
)");
#endif

namespace cairn::emulated_cuda {

namespace {

constexpr std::size_t page = 4096;

struct Context {
#if !defined(CAIRN_UCONTEXT)
    void* top = nullptr;
#else
    ucontext_t context;
#endif
    bool is_made = false, is_running = false;
    void* fake_stack = nullptr;  // of AddressSanitizer
};

}  // namespace

struct Fibers::State {
    State(std::size_t count, std::size_t stack_bytes);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Body body = nullptr;
    void* context = nullptr;
    const std::thread::id thread = std::this_thread::get_id();  // whose stack is the scheduler's
    std::size_t stride;                                         // of stacks, each with an inaccessible page below it
    std::byte* stacks = nullptr;
    std::vector<Context> fibers;
    Context scheduler;
    std::size_t running = 0;
    // ThreadSanitizer has slots for 255 threads and clears its memory when more take turns. All fibers are one to it:
    // they run one at a time, and what it would say of them is found by the emulator.
    void *tsan_fibers = nullptr, *tsan_scheduler = nullptr;
    const void* scheduler_stack = nullptr;  // told by AddressSanitizer
    std::size_t scheduler_bytes = 0;

    std::byte* stack(std::size_t fiber) const { return stacks + fiber * stride + page; }
    std::size_t stack_bytes() const { return stride - page; }
    bool is_running() const {
        return std::any_of(fibers.begin(), fibers.end(), [](const Context& fiber) { return fiber.is_running; });
    }
    void switch_to(Context& from, Context& to);
    void suspend() { switch_to(fibers[running], scheduler); }
    void restart(std::size_t fiber);
    static void main();
    static std::size_t stride_for(std::size_t stack_bytes) { return (stack_bytes + page - 1) / page * page + page; }

    /// The fibers that a new fiber belongs to: a fresh stack has no place for arguments.
    static thread_local State* starting;
    /// Those that were used last, for the next that need no more. To make a thousand stacks takes longer than most
    /// kernels run.
    static thread_local std::unique_ptr<State> spare;
};

thread_local Fibers::State* Fibers::State::starting = nullptr;
thread_local std::unique_ptr<Fibers::State> Fibers::State::spare;

void Fibers::State::switch_to(Context& from, Context& to) {
#if defined(CAIRN_ASAN)
    const bool back = &to == &scheduler;
    const auto fiber = static_cast<std::size_t>(&to - fibers.data());
    __sanitizer_start_switch_fiber(&from.fake_stack, back ? scheduler_stack : stack(fiber),
                                   back ? scheduler_bytes : stack_bytes());
#endif
#if defined(CAIRN_TSAN)
    if (&from == &scheduler) tsan_scheduler = __tsan_get_current_fiber();
    if (&from == &scheduler || &to == &scheduler)
        __tsan_switch_to_fiber(&to == &scheduler ? tsan_scheduler : tsan_fibers, 0);
#endif
#if !defined(CAIRN_UCONTEXT)
    cairn_switch_stack(&from.top, to.top);
#else
    swapcontext(&from.context, &to.context);
#endif
#if defined(CAIRN_ASAN)
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

Fibers::State::State(std::size_t count, std::size_t stack_bytes) : stride(stride_for(stack_bytes)) {
    void* memory =
        ::mmap(nullptr, count * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    stacks = static_cast<std::byte*>(memory);
    fibers.resize(count);
    for (std::size_t i = 0; i < count; ++i) ::mprotect(stacks + i * stride, page, PROT_NONE);
#if defined(CAIRN_TSAN)
    tsan_fibers = __tsan_create_fiber(0);
#endif
}

Fibers::State::~State() {
#if defined(CAIRN_ASAN)
    for (std::size_t i = 0; i < fibers.size(); ++i) __asan_unpoison_memory_region(stack(i), stack_bytes());
#endif
#if defined(CAIRN_TSAN)
    __tsan_destroy_fiber(tsan_fibers);
#endif
    ::munmap(stacks, fibers.size() * stride);
}

Fibers::Fibers(std::size_t count, std::size_t stack_bytes, Body body, void* context) : count_(count) {
    std::unique_ptr<State>& spare = State::spare;
    if (spare != nullptr && spare->fibers.size() >= count && spare->stride == State::stride_for(stack_bytes))
        state_ = std::move(spare);
    else
        state_ = std::make_unique<State>(count, stack_bytes);
    state_->body = body;
    state_->context = context;
    for (std::size_t i = 0; i < count; ++i) restart(i);
}

Fibers::~Fibers() {
    // What an abandoned fiber has on its stack is never destroyed, and neither is the fiber used again.
    if (state_->thread == std::this_thread::get_id() && !state_->is_running()) State::spare = std::move(state_);
}

std::size_t Fibers::count() const noexcept { return count_; }

void Fibers::State::main() {
    State& state = *starting;
#if defined(CAIRN_ASAN)
    // The first fiber to start is resumed by the scheduler; later ones may be continued by another fiber.
    const bool is_known = state.scheduler_stack != nullptr;
    __sanitizer_finish_switch_fiber(nullptr, is_known ? nullptr : &state.scheduler_stack,
                                    is_known ? nullptr : &state.scheduler_bytes);
#endif
    // A fiber that has finished starts again in the same place, since a new stack costs ThreadSanitizer much time.
    while (true) {
        Context& self = state.fibers[state.running];
        self.is_running = true;
        state.body(state.context, state.running);
        self.is_running = false;
        state.suspend();
    }
}

void Fibers::restart(std::size_t fiber) { state_->restart(fiber); }

void Fibers::State::restart(std::size_t fiber) {
    Context& context = fibers[fiber];
    if (context.is_made && !context.is_running) return;
    context.is_made = true;
    context.is_running = false;
#if defined(CAIRN_ASAN)
    __asan_unpoison_memory_region(stack(fiber), stack_bytes());
    context.fake_stack = nullptr;
#endif
#if !defined(CAIRN_UCONTEXT)
    // The stack of a call: six saved registers, then the address that the switch returns to. The called function
    // expects the stack pointer 8 below a multiple of 16, where its own return address would be.
    // Stacks begin at different places of a page: with the same place in all, their lines would compete for one set of
    // the cache.
    auto* top = reinterpret_cast<void**>(stack(fiber) + stack_bytes() - fiber % 61 * 64) - 1;
    *top = nullptr;
    *--top = reinterpret_cast<void*>(&State::main);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    context.top = top;
#else
    getcontext(&context.context);
    context.context.uc_stack.ss_sp = stack(fiber);
    context.context.uc_stack.ss_size = stack_bytes();
    context.context.uc_link = nullptr;
    makecontext(&context.context, &State::main, 0);
#endif
}

void Fibers::resume(std::size_t fiber) {
    State::starting = state_.get();
    state_->running = fiber;
    state_->switch_to(state_->scheduler, state_->fibers[fiber]);
}

void Fibers::pass_to(std::size_t fiber) {
    Context& from = state_->fibers[std::exchange(state_->running, fiber)];
    state_->switch_to(from, state_->fibers[fiber]);
}

void Fibers::suspend() { state_->suspend(); }

std::size_t Fibers::owner(const void* address) const noexcept {
    const auto offset = static_cast<const std::byte*>(address) - state_->stacks;
    if (offset < 0) return count();
    const std::size_t fiber = static_cast<std::size_t>(offset) / state_->stride;
    return fiber < count() ? fiber : count();
}

}  // namespace cairn::emulated_cuda
