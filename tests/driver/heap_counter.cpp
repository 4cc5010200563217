#include "tests/driver/heap_counter.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace {

thread_local cairn::test::HeapCounter* watching = nullptr;

}  // namespace

namespace cairn::test {

HeapCounter::HeapCounter(std::int64_t stop_after, std::stop_source source)
    : stop_after_(stop_after), source_(std::move(source)) {
    watching = this;
}

HeapCounter::~HeapCounter() { watching = nullptr; }

void HeapCounter::take() noexcept {
    ++allocated_;
    if (stopped_) ++allocated_after_;
    if (allocated_ != stop_after_) return;
    stopped_ = true;
    source_.request_stop();
}

void HeapCounter::give_back() noexcept {
    if (stopped_) ++returned_after_;
}

}  // namespace cairn::test

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    if (watching != nullptr) watching->take();
    return std::malloc(size > 0 ? size : 1);
}

void* operator new(std::size_t size) {
    if (void* memory = operator new(size, std::nothrow)) return memory;
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    if (watching != nullptr && memory != nullptr) watching->give_back();
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
