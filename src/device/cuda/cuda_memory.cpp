#include "device/cuda/cuda_memory.hpp"

#include "cairn/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cairn::device::cuda {
namespace {

// The largest distance of rows that the driver copies by one call.
constexpr std::size_t max_pitch = std::numeric_limits<std::int32_t>::max();

/// Rows without a gap as one row.
MemoryRows joined(const MemoryRows& rows) noexcept {
    if (rows.count <= 1 || rows.pitch != rows.bytes) return rows;
    return {rows.offset, rows.bytes * rows.count, 1, rows.bytes * rows.count};
}

/// Calls `body(piece, first)` for pieces of at most `limit` bytes each. A piece is whole rows, at a distance that the
/// driver supports, or a part of one row; `first` is the byte of the host's dense rows at which it begins.
template <class Body>
void for_each_piece(const MemoryRows& rows, std::size_t limit, const Body& body) {
    const bool has_whole_rows = rows.bytes <= limit && rows.pitch >= rows.bytes && rows.pitch <= max_pitch;
    const std::size_t step = has_whole_rows ? std::max<std::size_t>(limit / rows.bytes, 1) : 1;
    for (std::size_t row = 0; row < rows.count; row += step) {
        const std::size_t begin = rows.offset + row * rows.pitch;
        if (has_whole_rows) {
            body(MemoryRows{begin, rows.bytes, std::min(step, rows.count - row), rows.pitch}, row * rows.bytes);
            continue;
        }
        for (std::size_t done = 0; done < rows.bytes; done += limit) {
            const std::size_t bytes = std::min(limit, rows.bytes - done);
            body(MemoryRows{begin + done, bytes, 1, bytes}, row * rows.bytes + done);
        }
    }
}

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

}  // namespace

std::unique_ptr<CudaMemory> CudaMemory::make(std::shared_ptr<CudaDevice> device, std::shared_ptr<Staging> staging,
                                             std::size_t bytes) {
    DeviceAddress address = 0;
    if (bytes > 0) {
        const CurrentContext current(*device);
        address = device->allocate(bytes);
    }
    std::unique_ptr<CudaMemory> memory;
    try {
        memory.reset(new CudaMemory(device, std::move(staging), address, bytes));
    } catch (...) {
        if (bytes > 0) device->free(address, bytes);
        throw;
    }
    if (bytes > 0) memory->clear({0, bytes, 1, bytes});
    return memory;
}

CudaMemory::CudaMemory(std::shared_ptr<CudaDevice> device, std::shared_ptr<Staging> staging, DeviceAddress address,
                       std::size_t bytes)
    : Memory(reinterpret_cast<std::byte*>(address), bytes, false),
      device_(std::move(device)),
      staging_(std::move(staging)) {
    if (bytes > 0) device_->addresses().add(data(), bytes);
}

CudaMemory::~CudaMemory() {
    // In a forked process another thread of the parent may hold the mutex of the addresses forever.
    if (capacity() == 0 || device_->calls().is_forked()) return;
    device_->addresses().remove(data());
    device_->free(at(0), capacity());
}

DeviceAddress CudaMemory::at(std::size_t offset) const noexcept { return address_of(data()) + offset; }

void CudaMemory::touch(std::size_t offset, std::size_t bytes) {
    if (offset > capacity() || bytes > capacity() - offset)
        throw InternalError("cuda", "bytes beyond the end of an allocation are touched");
}

template <class Copy>
void CudaMemory::run(const MemoryRows& rows, const Copy& copy) const {
    if (rows.bytes > capacity() || rows.offset > capacity() - rows.bytes ||
        (rows.count > 1 && rows.pitch > (capacity() - rows.bytes - rows.offset) / (rows.count - 1)))
        throw InternalError("cuda", "rows beyond the end of an allocation are copied");
    const CurrentContext current(*device_);
    try {
        copy(joined(rows));
    } catch (...) {
        // What has been submitted must not use the host's memory once this returns.
        device_->calls().release(&DriverTable::stream_synchronize, device_->stream());
        throw;
    }
    device_->synchronize();
}

void CudaMemory::read_rows(const MemoryRows& rows, std::byte* host) const {
    run(rows, [&](const MemoryRows& all) {
        for_each_piece(all, unlimited, [&](const MemoryRows& piece, std::size_t first) {
            if (piece.count == 1)
                return device_->calls().call(&DriverTable::copy_to_host, static_cast<void*>(host + first),
                                             at(piece.offset), piece.bytes, device_->stream());
            Copy2D copy = {};
            copy.source_type = MemoryType::device;
            copy.source_device = at(piece.offset);
            copy.source_pitch = piece.pitch;
            copy.target_type = MemoryType::host;
            copy.target_host = host + first;
            copy.target_pitch = copy.row_bytes = piece.bytes;
            copy.rows = piece.count;
            device_->calls().call(&DriverTable::copy_2d, static_cast<const Copy2D*>(&copy), device_->stream());
        });
    });
}

void CudaMemory::write_rows(const MemoryRows& rows, const std::byte* host) {
    run(rows, [&](const MemoryRows& all) {
        if (all.bytes * all.count < staged_bytes)
            return for_each_piece(all, unlimited,
                                  [&](const MemoryRows& piece, std::size_t first) { upload(piece, host + first); });
        Staging::Upload through(*staging_);
        for_each_piece(all, staging_->bytes(), [&](const MemoryRows& piece, std::size_t first) {
            std::byte* const buffer = through.next();
            std::memcpy(buffer, host + first, piece.bytes * piece.count);
            upload(piece, buffer);
            through.submitted();
        });
    });
}

void CudaMemory::upload(const MemoryRows& rows, const std::byte* host) {
    if (rows.count == 1)
        return device_->calls().call(&DriverTable::copy_to_device, at(rows.offset), static_cast<const void*>(host),
                                     rows.bytes, device_->stream());
    Copy2D copy = {};
    copy.source_type = MemoryType::host;
    copy.source_host = host;
    copy.source_pitch = copy.row_bytes = rows.bytes;
    copy.target_type = MemoryType::device;
    copy.target_device = at(rows.offset);
    copy.target_pitch = rows.pitch;
    copy.rows = rows.count;
    device_->calls().call(&DriverTable::copy_2d, static_cast<const Copy2D*>(&copy), device_->stream());
}

void CudaMemory::clear_rows(const MemoryRows& rows) {
    run(rows, [&](const MemoryRows& all) {
        for_each_piece(all, unlimited, [&](const MemoryRows& piece, std::size_t) {
            if (piece.count == 1)
                device_->calls().call(&DriverTable::set_bytes, at(piece.offset), static_cast<unsigned char>(0),
                                      piece.bytes, device_->stream());
            else
                device_->calls().call(&DriverTable::set_bytes_2d, at(piece.offset), piece.pitch,
                                      static_cast<unsigned char>(0), piece.bytes, piece.count, device_->stream());
        });
    });
}

}  // namespace cairn::device::cuda
