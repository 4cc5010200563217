#include "tests/io/onnx_import/node_case.hpp"

#include "io/onnx_file/model_proto.hpp"

#include "cairn/compile.hpp"
#include "cairn/context.hpp"
#include "cairn/onnx/import.hpp"
#include "cairn/ports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <thread>
#include <vector>

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

/// A tensor of the test data, and its bytes.
struct Data {
    std::vector<char> file;
    onnx::TensorProto tensor;

    InputView view() const {
        return {.data = tensor.data.data(), .dtype = *onnx::dtype_of(tensor.type), .shape = tensor.dims};
    }
};

Data read_data(const fs::path& path) {
    Data data;
    std::ifstream in(path, std::ios::binary);
    data.file.assign(std::istreambuf_iterator<char>(in), {});
    data.tensor = onnx::parse_tensor(std::as_bytes(std::span(data.file)), path.filename().string());
    if (data.tensor.owned == nullptr) {  // aligned elements
        data.tensor.owned =
            std::make_shared<const std::vector<std::byte>>(data.tensor.data.begin(), data.tensor.data.end());
        data.tensor.data = *data.tensor.owned;
    }
    return data;
}

double half(std::uint16_t bits) {
    const double sign = (bits >> 15) != 0 ? -1 : 1;
    const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
    return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

template <typename T>
T element(const void* data, std::size_t index) {
    T value;
    std::memcpy(&value, static_cast<const char*>(data) + index * sizeof(T), sizeof(T));
    return value;
}

double float_at(const void* data, DType dtype, std::size_t index) {
    if (dtype == DType::f64) return element<double>(data, index);
    if (dtype == DType::f32) return static_cast<double>(element<float>(data, index));
    const auto bits = element<std::uint16_t>(data, index);
    if (dtype == DType::f16) return half(bits);
    return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

std::int64_t integer_at(const void* data, DType dtype, std::size_t index) {
    switch (dtype) {
        case DType::i64: return element<std::int64_t>(data, index);
        case DType::i32: return element<std::int32_t>(data, index);
        case DType::i8: return element<std::int8_t>(data, index);
        default: return element<std::uint8_t>(data, index);
    }
}

/// True if all numbers are multiples of a power of ten.
bool are_multiples(const onnx::TensorProto& tensor, DType dtype, double inverse) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) {
        const double value = float_at(tensor.data.data(), dtype, i), scaled = value * inverse;
        // f32 has a fourth decimal below 100 only.
        if (!(std::fabs(value) < 100) || std::fabs(scaled - std::round(scaled)) > 0.05) return false;
    }
    return true;
}

/// The largest error of results: relative to the largest expected magnitude, or a unit of the fourth decimal where
/// the expected numbers were written with four.
double allowed_error(const onnx::TensorProto& expected, DType dtype, double largest, double f32_error) {
    const double relative = dtype == DType::bf16 ? 1.6e-2 : dtype == DType::f16 ? 2e-3 : f32_error;
    if (dtype == DType::f32 && are_multiples(expected, dtype, 1e4) && !are_multiples(expected, dtype, 1e3)) return 1e-4;
    return relative * largest;
}

/// Empty if the result is what is expected.
std::string difference(const OutputView& result, const onnx::TensorProto& expected, double f32_error) {
    const DType dtype = *onnx::dtype_of(expected.type);
    if (result.dtype != dtype) return fmt::format("is {} instead of {}", to_string(result.dtype), to_string(dtype));
    const std::vector<std::int64_t> shape(result.shape.begin(), result.shape.end());
    if (shape != expected.dims)
        return fmt::format("has the shape [{}] instead of [{}]", fmt::join(shape, ","), fmt::join(expected.dims, ","));
    const auto count = static_cast<std::size_t>(expected.elements());
    const void* const got = result.data;
    if (!is_float(dtype)) {
        for (std::size_t i = 0; i < count; ++i)
            if (const auto a = integer_at(got, dtype, i), b = integer_at(expected.data.data(), dtype, i); a != b)
                return fmt::format("element {} is {} instead of {}", i, a, b);
        return {};
    }
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (const double b = float_at(expected.data.data(), dtype, i); std::isfinite(b))
            largest = std::max(largest, std::fabs(b));
    const double allowed = allowed_error(expected, dtype, largest, f32_error);
    for (std::size_t i = 0; i < count; ++i) {
        const double a = float_at(got, dtype, i), b = float_at(expected.data.data(), dtype, i);
        const bool agrees = std::isfinite(b) ? std::fabs(a - b) <= allowed : std::isnan(b) ? std::isnan(a) : a == b;
        if (!agrees) return fmt::format("element {} is {} instead of {}", i, a, b);
    }
    return {};
}

/// All parts of a case.
class Case {
public:
    /// `data`: the folder of inputs and outputs.
    Case(const fs::path& model, const fs::path& data) : model_(onnx::Model::open(model)) {
        const auto read = [&](const std::vector<onnx::Port>& ports, const char* kind, std::map<std::string, Data>& to) {
            for (std::size_t i = 0; i < ports.size(); ++i)
                if (ports[i].dtype.has_value())
                    if (const fs::path file = data / fmt::format("{}_{}.pb", kind, i); fs::exists(file))
                        to.emplace(ports[i].name, read_data(file));
        };
        read(model_.inputs(), "input", inputs_);
        read(model_.outputs(), "output", outputs_);
    }

    CaseResult run(const Context& context) const {
        std::optional<onnx::Imported> imported;
        std::string reason;
        // What is not fixed: everything; inputs of rank 2 and above, and the first; those of rank 2 and above; nothing;
        // and everything at the sizes of the data.
        for (int attempt = 0; attempt < 5 && !imported.has_value(); ++attempt) {
            try {
                imported = onnx::import(model_, {.sizes = attempt == 4 ? sizes() : Sizes(), .values = fixed(attempt)});
            } catch (const onnx::ImportError& error) {
                reason = error.unsupported().front().reason;
                if (attempt < 3 && reason.find("known at import") == std::string::npos) attempt = 3;
            }
        }
        if (!imported.has_value()) return {CaseResult::State::refused, reason};
        return compare(*imported, context, 1e-5);
    }

    CaseResult run(const ModelCase& how, const Context& context) const {
        onnx::ImportOptions options{
            .sizes = how.sizes.empty() ? sizes() : how.sizes,
            .equal_sizes = how.sizes.empty() ? std::map<std::string, std::string>() : how.equal_sizes};
        for (const std::string& name : how.fixed_inputs) options.values.emplace(name, inputs_.at(name).view());
        return compare(onnx::import(model_, options), context, how.relative_error);
    }

private:
    using Sizes = std::map<std::string, onnx::SizeBounds>;

    /// The sizes of the inputs that have a name, as constants.
    Sizes sizes() const {
        Sizes sizes;
        for (const onnx::Port& port : model_.inputs()) {
            const auto data = inputs_.find(port.name);
            if (data == inputs_.end()) continue;
            for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
                const onnx::Dimension& dim = port.shape[axis];
                const std::int64_t size = data->second.tensor.dims.at(axis);
                if (!dim.value.has_value() || *dim.value < 0)
                    sizes.emplace(
                        dim.name.empty() || dim.name == "?" ? fmt::format("{}_{}", port.name, axis) : dim.name,
                        onnx::SizeBounds{size, size});
            }
        }
        return sizes;
    }

    CaseResult compare(const onnx::Imported& imported, const Context& context, double f32_error) const {
        CompiledGraph program = compile(imported.graph, context);
        program.bind(imported.weights);
        for (const GraphPort& port : ports(imported.graph))
            if (port.kind == GraphPort::Kind::input) program.set(port.name, inputs_.at(port.name).view());
        program.run();
        for (const auto& [name, expected] : outputs_)
            if (const std::string fault = difference(program.output(name), expected.tensor, f32_error); !fault.empty())
                return {CaseResult::State::failed, fmt::format("output {} {}", name, fault)};
        if (outputs_.empty()) return {CaseResult::State::failed, "nothing was compared"};
        return {CaseResult::State::passed, {}};
    }

    std::map<std::string, InputView> fixed(int attempt) const {
        std::map<std::string, InputView> values;
        if (attempt == 0) return values;
        if (attempt == 4) attempt = 2;
        for (std::size_t i = attempt == 1 ? 1 : 0; i < model_.inputs().size(); ++i) {
            const auto it = inputs_.find(model_.inputs()[i].name);
            if (it != inputs_.end() && (attempt == 3 || it->second.tensor.dims.size() <= 1))
                values.emplace(it->first, it->second.view());
        }
        return values;
    }

    onnx::Model model_;
    std::map<std::string, Data> inputs_, outputs_;
};

}  // namespace

CaseResult run_case(const fs::path& folder, const Context& context) {
    try {
        return Case(folder / "model.onnx", folder / "test_data_set_0").run(context);
    } catch (const std::exception& error) { return {CaseResult::State::failed, error.what()}; }
}

std::vector<NamedResult> run_cases(const fs::path& folder) {
    std::vector<NamedResult> results;
    for (const auto& entry : fs::directory_iterator(folder)) results.push_back({entry.path(), {}});
    std::ranges::sort(results, {}, &NamedResult::folder);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        const Context context;
        for (std::size_t i = next++; i < results.size(); i = next++)
            results[i].result = run_case(results[i].folder, context);
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return results;
}

CaseResult run_model(const ModelCase& model, const Context& context) {
    return Case(model.model, model.data).run(model, context);
}

}  // namespace cairn::test
