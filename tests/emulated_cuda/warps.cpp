// What the lanes of a warp do together.
#include "tests/emulated_cuda/cluster.hpp"

#include "tests/emulated_cuda/fragments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::emulated_cuda {

namespace {

const char* name(WarpOperation operation) {
    switch (operation) {
        case WarpOperation::synchronize: return "__syncwarp()";
        case WarpOperation::shuffle: return "a shuffle";
        case WarpOperation::ballot: return "a ballot";
        case WarpOperation::mma_f16:
        case WarpOperation::mma_bf16:
        case WarpOperation::mma_i8:
        case WarpOperation::mma_tf32: return "a matrix product";
        default: return "load_matrices()";
    }
}

}  // namespace

void Cluster::warp(WarpOperation operation, unsigned mask, void* part, int line) {
    Thread& self = this->self();
    const std::uint32_t first = self.number - self.lane;  // number of the warp's first thread
    const std::uint32_t lanes =
        std::min<std::uint32_t>(32, block_threads_ - first % block_threads_);  // the last warp may have fewer
    if ((mask >> self.lane & 1) == 0)
        fail([&] { return fmt::format("the mask {:#x} does not contain the calling lane", mask); });
    if (operation == WarpOperation::load_matrices || operation == WarpOperation::load_matrices_transposed) {
        const void* row = static_cast<const LaneRow*>(part)->row;
        shared_address(row);
        check(row, 16, AccessKind::read, false);
    }
    if (operation == WarpOperation::shuffle) {
        const int source = static_cast<const LaneExchange*>(part)->source;
        if ((mask >> source & 1) == 0 || static_cast<std::uint32_t>(source) >= lanes)
            fail([&] {
                return fmt::format("a shuffle reads lane {}, which does not take part (mask {:#x}, {} lanes)", source,
                                   mask, lanes);
            });
    }

    auto& operations = warps_[self.warp];
    auto pending =
        std::find_if(operations.begin(), operations.end(), [&](const WarpOperationState& m) { return m.mask == mask; });
    if (pending == operations.end()) pending = operations.insert(operations.end(), {operation, mask, line});
    if (pending->operation != operation || pending->line != line)
        fail([&] {
            return fmt::format("lanes of a warp do different things together: {} at line {} and {} at line {}",
                               name(pending->operation), pending->line, name(operation), line);
        });
    pending->arrived |= 1u << self.lane;
    pending->parts[self.lane] = part;
    pending->lanes[self.lane] = &self;
    const unsigned present = lanes == 32 ? mask : mask & ((1u << lanes) - 1);
    if (pending->arrived == present) {
        perform(*pending);
        operations.erase(pending);
    }
    wait(name(operation), line);
}

void Cluster::perform(const WarpOperationState& pending) {
    std::vector<ThreadClock> released;
    unsigned ballot = 0;
    for (Thread* thread : pending.lanes) {
        if (thread == nullptr) continue;
        wake(*thread);
        auto* exchange = static_cast<LaneExchange*>(pending.parts[thread->lane]);
        switch (pending.operation) {
            case WarpOperation::synchronize: released.push_back(release(thread->clock)); break;
            case WarpOperation::shuffle:
                exchange->result = static_cast<LaneExchange*>(pending.parts[exchange->source])->value;
                break;
            case WarpOperation::ballot: ballot |= static_cast<unsigned>(exchange->value) << thread->lane; break;
            default: break;
        }
    }
    switch (pending.operation) {
        case WarpOperation::synchronize: {
            const Clock clock = joined(released);
            for (Thread* thread : pending.lanes)
                if (thread != nullptr) thread->clock.others = clock;
            break;
        }
        case WarpOperation::ballot:
            for (Thread* thread : pending.lanes)
                if (thread != nullptr) static_cast<LaneExchange*>(pending.parts[thread->lane])->result = ballot;
            break;
        case WarpOperation::mma_f16:
        case WarpOperation::mma_bf16:
        case WarpOperation::mma_i8:
        case WarpOperation::mma_tf32: multiply_fragments(pending.parts.data(), pending.operation); break;
        case WarpOperation::load_matrices:
        case WarpOperation::load_matrices_transposed:
            load_fragments(pending.parts.data(), pending.operation == WarpOperation::load_matrices_transposed);
            break;
        default: break;
    }
}

}  // namespace cairn::emulated_cuda
