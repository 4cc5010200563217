#include "tests/device/text_backend.hpp"

#include "cairn/error.hpp"

#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <thread>
#include <utility>

namespace cairn::test {

class TextBackend::HiddenMemory final : public device::Memory {
public:
    HiddenMemory(std::unique_ptr<std::byte[]> bytes, std::size_t count, std::size_t padding, const TextBackend& backend)
        : Memory(bytes.get() + padding, count, false),
          bytes_(std::move(bytes)),
          backend_(backend),
          allocations_(backend.allocations_) {
        (*allocations_)[data()] = count;
    }
    ~HiddenMemory() override { allocations_->erase(data()); }

    void touch(std::size_t, std::size_t) override {}
    void read_rows(const device::MemoryRows& rows, std::byte* host) const override {
        backend_.throw_if_lost();
        for (std::size_t row = 0; row < rows.count; ++row)
            std::memcpy(host + row * rows.bytes, data() + rows.offset + row * rows.pitch, rows.bytes);
    }
    void write_rows(const device::MemoryRows& rows, const std::byte* host) override {
        backend_.throw_if_lost();
        for (std::size_t row = 0; row < rows.count; ++row)
            std::memcpy(data() + rows.offset + row * rows.pitch, host + row * rows.bytes, rows.bytes);
    }
    void clear_rows(const device::MemoryRows& rows) override {
        backend_.throw_if_lost();
        for (std::size_t row = 0; row < rows.count; ++row)
            std::memset(data() + rows.offset + row * rows.pitch, 0, rows.bytes);
    }

private:
    std::unique_ptr<std::byte[]> bytes_;
    const TextBackend& backend_;
    std::shared_ptr<std::map<const std::byte*, std::size_t>> allocations_;
};

class TextBackend::Commands final : public device::CommandBuffer {
public:
    Commands(std::span<const device::KernelLaunch> launches, std::span<const std::int64_t> symbols,
             const TextBackend& backend)
        : CommandBuffer(launches), symbols_(symbols), backend_(backend) {}

    void update() override {}
    int threads() const noexcept override { return 1; }
    void run(device::Submission& submission) override {
        submission.count = static_cast<std::int64_t>(launches().size());
        for (std::int64_t i = 0; i < submission.count; ++i) {
            submission.reached = i;
            try {
                submission.failure = backend_.run(launches()[static_cast<std::size_t>(i)], symbols_);
            } catch (...) { submission.thrown = std::current_exception(); }
            if (!submission.failure && !submission.thrown) continue;
            submission.failed = i;
            return;
        }
    }

private:
    std::span<const std::int64_t> symbols_;
    const TextBackend& backend_;
};

TextBackend::TextBackend() : allocations_(std::make_shared<std::map<const std::byte*, std::size_t>>()) {}
TextBackend::~TextBackend() = default;

void TextBackend::throw_if_lost() const {
    if (lost) throw Error(ErrorKind::unsupported, "device", "the device is lost");
}

std::unique_ptr<device::Memory> TextBackend::reserve(std::size_t bytes, device::MemoryUse) {
    throw_if_lost();
    constexpr std::size_t alignment = device::Memory::alignment;
    auto memory = std::make_unique<std::byte[]>(bytes + alignment);
    const std::size_t padding = (alignment - reinterpret_cast<std::uintptr_t>(memory.get()) % alignment) % alignment;
    return std::make_unique<HiddenMemory>(std::move(memory), bytes, padding, *this);
}

std::vector<std::shared_ptr<const void>> TextBackend::compile(std::span<const device::DeviceCode* const> texts,
                                                              const device::CompileRequest&) {
    throw_if_lost();
    std::vector<std::string>& compilation = compilations.emplace_back();
    for (const device::DeviceCode* code : texts) compilation.push_back(code->text);
    if (!has_compiler) throw Error(ErrorKind::unsupported, "device", "there is no compiler");
    std::this_thread::sleep_for(compile_time * static_cast<int>(texts.size()));
    std::vector<std::shared_ptr<const void>> codes;
    for (const device::DeviceCode* code : texts) {
        const auto function = functions_.find(code->text);
        if (function == functions_.end() && accepts_all_texts) {
            codes.push_back(nullptr);
            continue;
        }
        if (function == functions_.end())
            throw Error(ErrorKind::unsupported, "device",
                        code->entry + " does not compile, with the log\nno " + code->text);
        codes.push_back(std::shared_ptr<const void>(std::shared_ptr<void>(), &function->second));
    }
    return codes;
}

std::unique_ptr<device::CommandBuffer> TextBackend::record(std::span<const device::KernelLaunch> launches,
                                                           std::span<const std::int64_t> symbols) {
    throw_if_lost();
    return std::make_unique<Commands>(launches, symbols, *this);
}

std::optional<device::Failure> TextBackend::run(const device::KernelLaunch& launch,
                                                std::span<const std::int64_t> symbols) const {
    throw_if_lost();
    const auto is_own = [&](const std::byte* address) {
        const auto after = allocations_->upper_bound(address);
        if (after == allocations_->begin()) return false;
        const auto& [base, bytes] = *std::prev(after);
        return static_cast<std::size_t>(address - base) <= bytes;
    };
    int own = 0;
    for (int i = 0; i < launch.inputs; ++i) own += is_own(launch.args.inputs[i].data) ? 1 : 0;
    for (int i = 0; i < launch.outputs; ++i) own += is_own(launch.args.outputs[i].data) ? 1 : 0;
    const bool is_copy = launch.code == nullptr;
    if (own != (is_copy ? 1 : launch.inputs + launch.outputs))
        throw InternalError("device", "an operand is in the wrong memory");
    if (!is_copy) return (*static_cast<const Function*>(launch.code))(launch.args, symbols);
    std::memcpy(launch.args.outputs[0].data, launch.args.inputs[0].data, launch.copy_bytes);
    return {};
}

double TextBackend::time(const device::TimedCalls& calls, std::optional<device::Failure>& failure) {
    throw_if_lost();
    const std::unique_ptr<device::CallArguments> arguments = calls.arguments();
    device::KernelLaunch launch;
    launch.inputs = calls.inputs;
    launch.outputs = calls.outputs;
    launch.code = calls.code;
    launch.copy_bytes = calls.copy_bytes;
    for (std::int64_t call = 0; call < calls.count && !failure; ++call) {
        launch.args = arguments->next();
        ++timed_calls;
        failure = run(launch, calls.symbols);
    }
    return static_cast<double>(calls.count) * call_seconds;
}

KernelCode text_code(const Problem& problem, const std::string& text) {
    KernelCode code;
    code.text = text;
    code.entry = text + to_string(digest(to_string(problem)));
    return code;
}

Kernel text_kernel(const std::string& id, const std::string& definition, KernelCode (*code)(const Problem& problem)) {
    Kernel kernel;
    kernel.id = id;
    kernel.definition = definition;
    kernel.device = Device::cuda();
    kernel.accepts = [](const Problem& problem) -> Refusal {
        for (const auto* operands : {&problem.inputs, &problem.outputs})
            for (const TensorDesc& tensor : *operands)
                if (tensor.dtype != DType::f32 || !tensor.is_dense()) return "needs dense f32";
        return {};
    };
    kernel.code = code;
    kernel.cost = [](const Problem&) { return Cost{1, 1, 1}; };
    return kernel;
}

}  // namespace cairn::test
