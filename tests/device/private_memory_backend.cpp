#include "tests/device/private_memory_backend.hpp"

#include "cairn/error.hpp"
#include "device/cpu/cpu_backend.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cairn::test {

/// The allocations of a device by address, with their second mappings.
class PrivateMemoryBackend::AddressMap {
public:
    explicit AddressMap(std::int64_t memory) : memory_(memory) {}

    std::int64_t free_bytes() const {
        const std::scoped_lock lock(mutex_);
        return memory_ - used_;
    }
    void add(std::byte* address, std::size_t bytes, std::byte* alias) {
        const std::scoped_lock lock(mutex_);
        ranges_[address] = {bytes, alias};
    }
    void remove(std::byte* address) {
        const std::scoped_lock lock(mutex_);
        used_ -= static_cast<std::int64_t>(ranges_.at(address).first);
        ranges_.erase(address);
    }
    /// Takes the bytes from those of the device.
    void take(std::size_t bytes) {
        const std::scoped_lock lock(mutex_);
        if (static_cast<std::int64_t>(bytes) > memory_ - used_)
            throw Error(ErrorKind::memory, "device",
                        std::to_string(bytes) + " bytes are needed, " + std::to_string(memory_ - used_) + " are free");
        used_ += static_cast<std::int64_t>(bytes);
    }
    /// The second mapping of an address; null if it is not the device's.
    std::byte* alias_of(const void* address) const {
        const std::scoped_lock lock(mutex_);
        auto* const at = static_cast<std::byte*>(const_cast<void*>(address));
        const auto after = ranges_.upper_bound(at);
        if (after == ranges_.begin()) return nullptr;
        const auto& [base, range] = *std::prev(after);
        // The end of an allocation is the address of an operand without elements.
        return at <= base + range.first ? range.second + (at - base) : nullptr;
    }

private:
    mutable std::mutex mutex_;
    std::int64_t memory_, used_ = 0;
    std::map<std::byte*, std::pair<std::size_t, std::byte*>> ranges_;
};

class PrivateMemoryBackend::Allocation final : public device::Memory {
public:
    static std::unique_ptr<Allocation> make(std::size_t bytes, std::shared_ptr<AddressMap> addresses) {
        if (bytes == 0) return std::unique_ptr<Allocation>(new Allocation(nullptr, 0, nullptr, std::move(addresses)));
        addresses->take(bytes);
        const int file = memfd_create("device", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0)
            throw Error(ErrorKind::memory, "device", "no memory file");
        // One byte more, so that the address of the end belongs to no other memory.
        void* const base = mmap(nullptr, bytes + 1, PROT_NONE, MAP_SHARED, file, 0);
        void* const alias = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (base == MAP_FAILED || alias == MAP_FAILED) throw Error(ErrorKind::memory, "device", "no mapping");
        return std::unique_ptr<Allocation>(
            new Allocation(static_cast<std::byte*>(base), bytes, static_cast<std::byte*>(alias), std::move(addresses)));
    }
    ~Allocation() override {
        if (capacity() == 0) return;
        addresses_->remove(data());
        munmap(data(), capacity() + 1);
        munmap(alias_, capacity());
    }

    void touch(std::size_t offset, std::size_t bytes) override {
        if (offset + bytes > capacity()) throw InternalError("device", "it touches bytes beyond an allocation");
    }

private:
    void read_rows(const device::MemoryRows& rows, std::byte* host) const override {
        check(rows);
        for (std::size_t row = 0; row < rows.count; ++row)
            std::memcpy(host + row * rows.bytes, alias_ + rows.offset + row * rows.pitch, rows.bytes);
    }
    void write_rows(const device::MemoryRows& rows, const std::byte* host) override {
        check(rows);
        for (std::size_t row = 0; row < rows.count; ++row)
            std::memcpy(alias_ + rows.offset + row * rows.pitch, host + row * rows.bytes, rows.bytes);
    }
    void clear_rows(const device::MemoryRows& rows) override {
        check(rows);
        for (std::size_t row = 0; row < rows.count; ++row)
            std::memset(alias_ + rows.offset + row * rows.pitch, 0, rows.bytes);
    }

    Allocation(std::byte* base, std::size_t bytes, std::byte* alias, std::shared_ptr<AddressMap> addresses)
        : Memory(base, bytes, false), alias_(alias), addresses_(std::move(addresses)) {
        if (bytes > 0) addresses_->add(base, bytes, alias);
    }
    void check(const device::MemoryRows& rows) const {
        if (rows.offset + (rows.count - 1) * rows.pitch + rows.bytes > capacity())
            throw InternalError("device", "it copies bytes beyond an allocation");
    }

    std::byte* alias_;
    std::shared_ptr<AddressMap> addresses_;
};

namespace {

/// The operands of a call at their second mappings.
class Translated {
public:
    template <typename AliasOf>
    void assign(const Args& args, int inputs, int outputs, const AliasOf& alias_of) {
        tensors_.clear();
        int foreign = 0;
        const auto add = [&](const TensorArg& tensor) {
            TensorArg& own = tensors_.emplace_back(tensor);
            if (std::byte* const alias = alias_of(tensor.data))
                own.data = alias;
            else if (tensor.data != nullptr)
                ++foreign;
        };
        for (int i = 0; i < inputs; ++i) add(args.inputs[i]);
        for (int i = 0; i < outputs; ++i) add(args.outputs[i]);
        const bool may_be_copy = inputs == 1 && outputs == 1;
        if (foreign > (may_be_copy ? 1 : 0))
            throw InternalError("device", "an operand is not in the memory of the device");
        args_ = args;
        args_.inputs = tensors_.data();
        args_.outputs = tensors_.data() + inputs;
        if (args.workspace != nullptr && (args_.workspace = alias_of(args.workspace)) == nullptr)
            throw InternalError("device", "the workspace is not in the memory of the device");
    }
    const Args& args() const noexcept { return args_; }

private:
    std::vector<TensorArg> tensors_;
    Args args_ = {};
};

}  // namespace

class PrivateMemoryBackend::Commands final : public device::CommandBuffer {
public:
    Commands(std::span<const device::KernelLaunch> launches, std::shared_ptr<AddressMap> addresses,
             device::CpuBackend& cpu)
        : CommandBuffer(launches),
          addresses_(std::move(addresses)),
          translated_(launches.size()),
          own_launches_(launches.begin(), launches.end()),
          commands_(cpu.record(own_launches_, {})) {}

    void update() override {
        for (std::size_t i = 0; i < own_launches_.size(); ++i) own_launches_[i].bytes = launches()[i].bytes;
        commands_->update();
    }
    int threads() const noexcept override { return commands_->threads(); }
    void run(device::Submission& submission) override {
        const auto alias_of = [&](const void* address) { return addresses_->alias_of(address); };
        for (std::size_t i = 0; i < own_launches_.size(); ++i) {
            translated_[i].assign(launches()[i].args, launches()[i].inputs, launches()[i].outputs, alias_of);
            own_launches_[i].args = translated_[i].args();
        }
        commands_->run(submission);
    }

private:
    std::shared_ptr<AddressMap> addresses_;
    std::vector<Translated> translated_;
    std::vector<device::KernelLaunch> own_launches_;
    std::unique_ptr<device::CommandBuffer> commands_;
};

PrivateMemoryBackend::PrivateMemoryBackend(int threads, std::int64_t memory, Device device)
    : addresses_(std::make_shared<AddressMap>(memory)), cpu_(device::cpu_backend(threads)), device_(device) {}
PrivateMemoryBackend::~PrivateMemoryBackend() = default;

std::unique_ptr<device::Memory> PrivateMemoryBackend::reserve(std::size_t bytes, device::MemoryUse) {
    return Allocation::make(bytes, addresses_);
}

std::optional<Device> PrivateMemoryBackend::device_of_memory(const void* address) const noexcept {
    return addresses_->alias_of(address) == nullptr ? std::nullopt : std::optional(device_);
}

void PrivateMemoryBackend::copy(std::byte* target, const std::byte* source, std::size_t bytes) {
    if (bytes == 0) return;
    std::byte* const to = addresses_->alias_of(target);
    const std::byte* const from = addresses_->alias_of(source);
    std::memmove(to != nullptr ? to : target, from != nullptr ? from : source, bytes);
}

std::optional<std::int64_t> PrivateMemoryBackend::free_memory() const { return addresses_->free_bytes(); }

std::vector<std::shared_ptr<const void>> PrivateMemoryBackend::compile(std::span<const device::DeviceCode* const>,
                                                                       const device::CompileRequest&) {
    throw InternalError("device", "its kernels have no text");
}

std::unique_ptr<device::CommandBuffer> PrivateMemoryBackend::record(std::span<const device::KernelLaunch> launches,
                                                                    std::span<const std::int64_t>) {
    return std::make_unique<Commands>(launches, addresses_, *cpu_);
}

double PrivateMemoryBackend::time(const device::TimedCalls& calls, std::optional<device::Failure>& failure) {
    class Arguments final : public device::CallArguments {
    public:
        Arguments(std::unique_ptr<device::CallArguments> given, const device::TimedCalls& calls,
                  const AddressMap& addresses)
            : given_(std::move(given)), calls_(calls), addresses_(addresses) {}
        const Args& next() noexcept override {
            translated_.assign(given_->next(), calls_.inputs, calls_.outputs,
                               [&](const void* address) { return addresses_.alias_of(address); });
            return translated_.args();
        }

    private:
        std::unique_ptr<device::CallArguments> given_;
        const device::TimedCalls& calls_;
        const AddressMap& addresses_;
        Translated translated_;
    };
    device::TimedCalls own = calls;
    own.arguments = [&] { return std::make_unique<Arguments>(calls.arguments(), calls, *addresses_); };
    return cpu_->time(own, failure);
}

int PrivateMemoryBackend::threads() const noexcept { return cpu_->threads(); }
FeatureSet PrivateMemoryBackend::features() const { return cpu_->features(); }
std::string PrivateMemoryBackend::fingerprint(const FeatureSet&) const { return "private memory"; }

}  // namespace cairn::test
