#pragma once

#include "tests/emulated_cuda/access_cells.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cairn::emulated_cuda {

/// The buffers that kernels may access, the accesses of earlier launches, and which of them are complete. Used by
/// launches one after another, as on one stream:
///
///     GlobalMemory memory;
///     memory.add("x", x.data(), x.size() * sizeof(float), GlobalMemory::read_only);
class GlobalMemory {
public:
    enum Permission { read_only, writable };

    /// Adds a buffer, which must outlive the launches. Throws std::invalid_argument if it overlaps another.
    void add(std::string name, const void* data, std::size_t bytes, Permission permission = writable);

    /// Makes the buffer at an address read-only for later launches. Throws std::invalid_argument if there is none.
    void protect(const void* data);

    /// Ends all launches, as a host does that waits for its stream: their results may be used by any later launch.
    void synchronize() { settled_ = launch_; }

private:
    friend class Cluster;
    friend class EmulatedModule;

    static constexpr std::size_t block_words = 256;
    using Block = std::array<AccessCells, block_words>;
    struct Buffer {
        std::string name;
        const std::byte* data;
        std::size_t bytes;
        bool is_writable;
        std::vector<std::unique_ptr<Block>> accesses;  // made at the first access
    };

    // Which launches are complete is known as a prefix: all up to a number; and after a dependency wait the launch
    // before. A dependent launch starts once the one before has triggered it, which may be before that one has waited.

    void begin_launch(bool dependent);
    /// The launches known to be complete, as a prefix, to a thread that has waited for its dependency or not.
    std::uint32_t complete(bool waited) const;
    bool is_complete(std::uint32_t launch, bool waited) const {
        return launch <= complete(waited) || (waited && launch + 1 == launch_);
    }
    /// A block has ended, with what it knew when it triggered dependents, and at its end.
    void end_block(std::uint32_t at_trigger, std::uint32_t at_end);

    Buffer* find(const void* address);
    std::string nearest(const void* address, std::size_t bytes) const;
    AccessCells& cells(Buffer& buffer, std::size_t word);

    std::vector<Buffer> buffers_;  // sorted by address
    std::uint32_t launch_ = 0, settled_ = 0;
    std::uint32_t before_ = 0, after_ = 0;            // of this launch: complete before and after its wait
    std::uint32_t next_before_ = 0, next_after_ = 0;  // of the next launch, if it is dependent

    /// Clusters that have made their writes known by a fence and an atomic operation, by the address of that.
    std::unordered_map<const void*, std::unordered_set<std::uint32_t>> published_;
};

}  // namespace cairn::emulated_cuda
