#include "tests/device/cuda/stand_in_cublaslt.hpp"

#include "graph/types/half.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace cairn::device::cuda {
namespace {

/// A layout as the library has it: in order of columns.
struct HeldLayout {
    CublasltType type = CublasltType::f32;
    std::uint64_t rows = 0, columns = 0;
    std::int64_t stride = 0, batch_stride = 0;
    std::int32_t batches = 1;
};
struct HeldDescription {
    CublasltCompute compute = CublasltCompute::f32;
    CublasltTranspose a = CublasltTranspose::none, b = CublasltTranspose::none;
    CublasltEpilogue epilogue = CublasltEpilogue::none;
    const void* bias = nullptr;
};
struct HeldPreference {
    std::uint64_t workspace_bytes = 0;
    std::uint32_t reduction_schemes = 7, alignments[4] = {256, 256, 256, 256};
};

std::size_t bytes_of(CublasltType type) { return type == CublasltType::f32 ? 4 : 2; }

float load(const std::byte* data, CublasltType type, std::int64_t i) {
    std::uint16_t half = 0;
    float value = 0;
    if (type == CublasltType::f32) {
        std::memcpy(&value, data + i * 4, 4);
        return value;
    }
    std::memcpy(&half, data + i * 2, 2);
    return type == CublasltType::f16 ? types::f16_to_f32(half) : types::bf16_to_f32(half);
}
void store(std::byte* data, CublasltType type, std::int64_t i, float value) {
    if (type == CublasltType::f32) {
        std::memcpy(data + i * 4, &value, 4);
        return;
    }
    const std::uint16_t half = type == CublasltType::f16 ? types::f32_to_f16(value) : types::f32_to_bf16(value);
    std::memcpy(data + i * 2, &half, 2);
}

/// The number without the bits of its mantissa after the tenth.
float tf32(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    bits &= 0xffffe000U;
    std::memcpy(&value, &bits, 4);
    return value;
}

float activated(float value, CublasltEpilogue epilogue) {
    if (epilogue == CublasltEpilogue::relu_bias) return value > 0 || std::isnan(value) ? value : 0;
    if (epilogue != CublasltEpilogue::gelu_bias) return value;
    const double x = value;
    return static_cast<float>(0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))));
}

struct Product {
    HeldDescription description;
    HeldLayout a, b, d;
    const std::byte *a_data, *b_data, *bias;
    std::byte* d_data;
    std::uint64_t algorithm;

    std::int64_t depth() const {
        return static_cast<std::int64_t>(description.a == CublasltTranspose::none ? a.columns : a.rows);
    }
    void compute() const {
        for (std::int32_t batch = 0; batch < d.batches; ++batch)
            for (std::int64_t column = 0; column < static_cast<std::int64_t>(d.columns); ++column)
                for (std::int64_t row = 0; row < static_cast<std::int64_t>(d.rows); ++row) {
                    const float sum = static_cast<float>(element(batch, row, column)) +
                                      (bias != nullptr ? load(bias, d.type, row) : 0.0F);
                    store(d_data, d.type, batch * d.batch_stride + column * d.stride + row,
                          activated(sum, description.epilogue));
                }
    }
    /// Algorithms of odd numbers sum from the end, in f32; the others in double.
    double element(std::int32_t batch, std::int64_t row, std::int64_t column) const {
        const auto factor = [&](const HeldLayout& layout, const std::byte* data, bool is_transposed, std::int64_t i,
                                std::int64_t k) {
            const float value =
                load(data, layout.type,
                     batch * layout.batch_stride + (is_transposed ? i * layout.stride + k : k * layout.stride + i));
            return description.compute == CublasltCompute::f32_fast_tf32 ? tf32(value) : value;
        };
        const bool a_transposed = description.a == CublasltTranspose::transposed,
                   b_transposed = description.b == CublasltTranspose::none;
        const auto term = [&](std::int64_t k) {
            return std::pair(factor(a, a_data, a_transposed, row, k), factor(b, b_data, b_transposed, column, k));
        };
        double sum = 0;
        float backwards = 0;
        const std::int64_t count = depth();
        for (std::int64_t k = 0; k < count && algorithm % 2 == 0; ++k) {
            const auto [x, y] = term(k);
            sum += static_cast<double>(x) * y;
        }
        for (std::int64_t k = count; k > 0 && algorithm % 2 != 0; --k) {
            const auto [x, y] = term(k - 1);
            backwards += x * y;
        }
        return algorithm % 2 == 0 ? sum : static_cast<double>(backwards);
    }
};

}  // namespace

class StandInCublaslt::State {
public:
    explicit State(StandInDriver& of) : driver(of) {}

    /// Notes a call; a status if it does not go on.
    std::optional<CublasltStatus> enter(const char* symbol) {
        calls.emplace_back(symbol);
        // A call that does not destroy anything would be a leak.
        if (fails.empty() && std::string_view(symbol).ends_with("Destroy")) return {};
        if (fails_after == 0 || (!fails.empty() && fails != symbol) || --fails_after != 0) return {};
        failed_call = symbol;
        return fails_with;
    }
    CublasltStatus broken(const std::string& rule) {
        violations.push_back(rule);
        return CublasltStatus::invalid_value;
    }
    template <class Handle>
    Handle new_handle() {
        return reinterpret_cast<Handle>(next_handle += 16);
    }

    CublasltStatus create(CublasltHandle* handle) {
        if (driver.context_depth() == 0) return broken("a handle is created without a context");
        handles.push_back(*handle = new_handle<CublasltHandle>());
        return CublasltStatus::success;
    }
    CublasltStatus destroy(CublasltHandle handle) {
        return std::erase(handles, handle) == 1 ? CublasltStatus::success : broken("an unknown handle is destroyed");
    }
    CublasltStatus description_create(ProductDescription* description, CublasltCompute compute, CublasltType scale) {
        if (scale != CublasltType::f32) return broken("a product is scaled in another type than f32");
        descriptions[*description = new_handle<ProductDescription>()].compute = compute;
        return CublasltStatus::success;
    }
    CublasltStatus description_destroy(ProductDescription description) {
        return descriptions.erase(description) == 1 ? CublasltStatus::success : broken("an unknown description");
    }
    CublasltStatus description_set(ProductDescription description, ProductAttribute attribute, const void* value,
                                   std::size_t bytes) {
        HeldDescription& set = descriptions.at(description);
        switch (attribute) {
            case ProductAttribute::transpose_a: return take(set.a, value, bytes);
            case ProductAttribute::transpose_b: return take(set.b, value, bytes);
            case ProductAttribute::epilogue: return take(set.epilogue, value, bytes);
            case ProductAttribute::bias_pointer: return take(set.bias, value, bytes);
        }
        return broken("an unknown attribute of a product");
    }
    CublasltStatus layout_create(MatrixLayout* layout, CublasltType type, std::uint64_t rows, std::uint64_t columns,
                                 std::int64_t stride) {
        if (rows == 0 || columns == 0) return broken("a matrix is empty");
        if (stride < static_cast<std::int64_t>(rows)) return broken("the columns of a matrix overlap");
        layouts[*layout = new_handle<MatrixLayout>()] = {type, rows, columns, stride};
        return CublasltStatus::success;
    }
    CublasltStatus layout_destroy(MatrixLayout layout) {
        return layouts.erase(layout) == 1 ? CublasltStatus::success : broken("an unknown layout is destroyed");
    }
    CublasltStatus layout_set(MatrixLayout layout, MatrixAttribute attribute, const void* value, std::size_t bytes) {
        HeldLayout& set = layouts.at(layout);
        return attribute == MatrixAttribute::batch_count ? take(set.batches, value, bytes)
                                                         : take(set.batch_stride, value, bytes);
    }
    CublasltStatus preference_create(ProductPreference* preference) {
        preferences[*preference = new_handle<ProductPreference>()] = {};
        return CublasltStatus::success;
    }
    CublasltStatus preference_destroy(ProductPreference preference) {
        return preferences.erase(preference) == 1 ? CublasltStatus::success : broken("an unknown preference");
    }
    CublasltStatus preference_set(ProductPreference preference, PreferenceAttribute attribute, const void* value,
                                  std::size_t bytes) {
        HeldPreference& set = preferences.at(preference);
        if (attribute == PreferenceAttribute::max_workspace_bytes) return take(set.workspace_bytes, value, bytes);
        if (attribute == PreferenceAttribute::reduction_schemes) return take(set.reduction_schemes, value, bytes);
        const auto operand =
            static_cast<std::size_t>(attribute) - static_cast<std::size_t>(PreferenceAttribute::alignment_a);
        return operand < 4 ? take(set.alignments[operand], value, bytes) : broken("an unknown preference is set");
    }
    CublasltStatus propose(CublasltHandle handle, ProductDescription description, MatrixLayout a, MatrixLayout b,
                           MatrixLayout c, MatrixLayout d, ProductPreference preference, int most,
                           ProductProposal* proposals, int* count) {
        if (!is_sound(handle, description, a, b, c, d)) return CublasltStatus::invalid_value;
        const HeldPreference& wanted = preferences.at(preference);
        if (wanted.reduction_schemes != reduction_in_compute_type) broken("sums whose order may vary are permitted");
        const bool is_wide = std::all_of(std::begin(wanted.alignments), std::end(wanted.alignments),
                                         [](std::uint32_t alignment) { return alignment >= 16; });
        *count = std::min(most, is_wide ? proposed_wide : proposed_others);
        for (int i = 0; i < *count; ++i)
            proposals[i] = {{{static_cast<std::uint64_t>(i), is_wide}}, 0, CublasltStatus::success, 1, {}};
        if (*count > 1) proposals[1].workspace_bytes = wanted.workspace_bytes;
        return *count > 0 ? CublasltStatus::success : CublasltStatus::not_supported;
    }
    CublasltStatus matmul(CublasltHandle handle, ProductDescription description, const void* alpha, const void* a,
                          MatrixLayout a_layout, const void* b, MatrixLayout b_layout, const void* beta, const void* c,
                          MatrixLayout c_layout, void* d, MatrixLayout d_layout, const ProductAlgorithm* algorithm,
                          void* workspace, std::size_t workspace_bytes, StreamHandle stream) {
        if (!is_sound(handle, description, a_layout, b_layout, c_layout, d_layout))
            return CublasltStatus::invalid_value;
        if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0 || c != d)
            return broken("a product is scaled, or added to something");
        if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) return broken("a workspace is not aligned");
        const bool wants_wide = algorithm->data[1] != 0;
        const HeldDescription& described = descriptions.at(description);
        const void* const bias = described.epilogue == CublasltEpilogue::none ? nullptr : described.bias;
        for (const void* operand : {a, b, bias, static_cast<const void*>(d)})
            if (wants_wide && reinterpret_cast<std::uintptr_t>(operand) % 16 != 0)
                return broken("an operand is not aligned as its algorithm needs it");
        const StandInMemory& memory = driver.memory();
        const HeldLayout &of_a = layouts.at(a_layout), &of_b = layouts.at(b_layout), &of_d = layouts.at(d_layout);
        const Product product{described,
                              of_a,
                              of_b,
                              of_d,
                              memory.host(a, extent(of_a)),
                              memory.host(b, extent(of_b)),
                              bias == nullptr ? nullptr : memory.host(bias, of_d.rows * bytes_of(of_d.type)),
                              memory.host(d, extent(of_d)),
                              algorithm->data[0]};
        std::byte* const scratch = memory.host(workspace, workspace_bytes);
        if (product.a_data == nullptr || product.b_data == nullptr || product.d_data == nullptr || scratch == nullptr ||
            (bias != nullptr && product.bias == nullptr))
            return broken("an operand is outside of the memory of the device");
        algorithms.push_back(algorithm->data[0]);
        const auto work = [product, scratch] {
            std::memset(scratch, 0x5a, 4096);
            product.compute();
        };
        return driver.submit(stream, work) == Result::success ? CublasltStatus::success
                                                              : CublasltStatus::execution_failed;
    }

    StandInDriver& driver;
    mutable std::mutex mutex;
    std::vector<std::string> calls, violations;
    std::string fails, failed_call;
    std::int64_t fails_after = 0;
    CublasltStatus fails_with = CublasltStatus::success;
    int proposed_wide = 3, proposed_others = 2;
    std::vector<std::uint64_t> algorithms;
    std::uintptr_t next_handle = 1 << 20;
    std::vector<CublasltHandle> handles;
    std::map<ProductDescription, HeldDescription> descriptions;
    std::map<MatrixLayout, HeldLayout> layouts;
    std::map<ProductPreference, HeldPreference> preferences;

private:
    template <class Value>
    CublasltStatus take(Value& value, const void* from, std::size_t bytes) {
        if (bytes != sizeof(value)) return broken("an attribute has another size");
        std::memcpy(&value, from, bytes);
        return CublasltStatus::success;
    }
    /// Bytes from the first to the last element.
    static std::size_t extent(const HeldLayout& layout) {
        const std::int64_t last = (layout.batches - 1) * layout.batch_stride +
                                  static_cast<std::int64_t>(layout.columns - 1) * layout.stride +
                                  static_cast<std::int64_t>(layout.rows - 1);
        return static_cast<std::size_t>(last + 1) * bytes_of(layout.type);
    }
    bool is_sound(CublasltHandle handle, ProductDescription description, MatrixLayout a, MatrixLayout b, MatrixLayout c,
                  MatrixLayout d) {
        if (std::find(handles.begin(), handles.end(), handle) == handles.end() || !descriptions.contains(description) ||
            !layouts.contains(a) || !layouts.contains(b) || !layouts.contains(d) || c != d) {
            broken("a product of unknown objects");
            return false;
        }
        const HeldDescription& described = descriptions.at(description);
        HeldLayout of_a = layouts.at(a), of_b = layouts.at(b);
        const HeldLayout& of_d = layouts.at(d);
        if (described.a == CublasltTranspose::transposed) std::swap(of_a.rows, of_a.columns);
        if (described.b == CublasltTranspose::transposed) std::swap(of_b.rows, of_b.columns);
        const bool has_bias = described.epilogue != CublasltEpilogue::none;
        const bool fits = of_a.rows == of_d.rows && of_b.columns == of_d.columns && of_a.columns == of_b.rows &&
                          of_a.batches == of_d.batches && of_b.batches == of_d.batches && of_a.type == of_d.type &&
                          of_b.type == of_d.type &&
                          (of_a.type == CublasltType::f32) != (described.compute == CublasltCompute::f32) &&
                          has_bias == (described.bias != nullptr);
        if (!fits) broken("the matrices of a product do not fit together");
        return fits;
    }
};

namespace {

// Functions of a table have no context.
StandInCublaslt::State* cublaslt_state = nullptr;

template <auto Member, auto Method>
struct CublasltEntry;
template <class... Arguments, CublasltStatus (*CublasltTable::*Member)(Arguments...),
          CublasltStatus (StandInCublaslt::State::*Method)(Arguments...)>
struct CublasltEntry<Member, Method> {
    static inline const char* symbol = "";
    static CublasltStatus call(Arguments... arguments) {
        const std::scoped_lock lock(cublaslt_state->mutex);
        if (const auto status = cublaslt_state->enter(symbol)) return *status;
        return (cublaslt_state->*Method)(arguments...);
    }
};

std::shared_ptr<const CublasltTable> make_cublaslt_table() {
    auto table = std::make_shared<CublasltTable>();
#define CAIRN_STAND_IN_CUBLASLT(symbol_name, member, parameters)                               \
    {                                                                                          \
        using Called = CublasltEntry<&CublasltTable::member, &StandInCublaslt::State::member>; \
        Called::symbol = #symbol_name;                                                         \
        table->member = Called::call;                                                          \
    }
    CAIRN_CUDA_CUBLASLT_FUNCTIONS(CAIRN_STAND_IN_CUBLASLT)
#undef CAIRN_STAND_IN_CUBLASLT
    table->version = [] { return std::size_t{130207}; };
    table->status_name = [](CublasltStatus status) {
        return status == CublasltStatus::not_supported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
    };
    return table;
}

}  // namespace

StandInCublaslt::StandInCublaslt(StandInDriver& driver)
    : state_(std::make_unique<State>(driver)), table_(make_cublaslt_table()) {
    cublaslt_state = state_.get();
}
StandInCublaslt::~StandInCublaslt() { cublaslt_state = nullptr; }

std::vector<std::string> StandInCublaslt::calls() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->calls;
}
void StandInCublaslt::clear_calls() {
    const std::scoped_lock lock(state_->mutex);
    state_->calls.clear();
}
std::int64_t StandInCublaslt::count(std::string_view symbol) const {
    const std::vector<std::string> all = calls();
    return std::count(all.begin(), all.end(), symbol);
}
void StandInCublaslt::fail(std::string_view symbol, std::int64_t nth, CublasltStatus status) {
    const std::scoped_lock lock(state_->mutex);
    state_->fails = symbol;
    state_->fails_after = nth;
    state_->fails_with = status;
    state_->failed_call.clear();
}
std::string StandInCublaslt::failed_call() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->failed_call;
}
void StandInCublaslt::propose(int of_wide, int of_others) {
    const std::scoped_lock lock(state_->mutex);
    state_->proposed_wide = of_wide;
    state_->proposed_others = of_others;
}
std::vector<std::uint64_t> StandInCublaslt::algorithms() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->algorithms;
}
std::vector<std::string> StandInCublaslt::faults() const {
    const std::scoped_lock lock(state_->mutex);
    std::vector<std::string> all = state_->violations;
    const auto add = [&](std::size_t count, const char* what) {
        if (count > 0) all.push_back(std::to_string(count) + " " + what);
    };
    add(state_->handles.size(), "handles");
    add(state_->descriptions.size(), "descriptions");
    add(state_->layouts.size(), "layouts");
    add(state_->preferences.size(), "preferences");
    return all;
}

}  // namespace cairn::device::cuda
