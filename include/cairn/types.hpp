#pragma once

#include "cairn/error.hpp"

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::inline v0 {

/// The element type of a tensor. `boolean` is stored as one byte, 0 or 1; f16 is IEEE 754 binary16, bf16 the upper half
/// of f32.
enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i8, u8, boolean };

/// Bytes of one element: 8, 4, 2, 2, 8, 4, 1, 1, 1.
CAIRN_API std::size_t size_of(DType dtype) noexcept;
/// True for f64, f32, f16, bf16.
CAIRN_API bool is_float(DType dtype) noexcept;
/// True for floats if every value of `from` is exact in `to` and the dtypes differ: f16 or bf16 to f32, any of them to
/// f64.
CAIRN_API bool is_widening(DType from, DType to) noexcept;
/// True for i64, i32, i8, u8 (not boolean).
CAIRN_API bool is_integer(DType dtype) noexcept;
/// `f32`, ..., `bool`: the name used in all text forms.
CAIRN_API std::string_view to_string(DType dtype) noexcept;
/// Writes to_string(dtype).
CAIRN_API std::ostream& operator<<(std::ostream& out, DType dtype);
/// The inverse of to_string; empty for an unknown name.
CAIRN_API std::optional<DType> parse_dtype(std::string_view name) noexcept;

/// The kind of a Device.
enum class DeviceKind : std::uint8_t { cpu, cuda };

/// A device that stores tensors and computes: the one CPU, or a GPU if the library has one.
///
///     copy_to(x, Device::cuda(1))
struct CAIRN_API Device {
    DeviceKind kind = DeviceKind::cpu;  ///< what it is
    std::uint8_t index = 0;             ///< among the devices of its kind

    /// The CPU.
    static const Device cpu;
    /// The GPU with this CUDA device ordinal. Throws Error(argument) for one outside 0..255.
    static Device cuda(int index = 0);

    friend auto operator<=>(const Device&, const Device&) = default;
};
/// The definition of Device::cpu.
inline constexpr Device Device::cpu{};

/// `cpu`, `cuda`, `cuda:1`: the index is written unless it is 0.
CAIRN_API std::string to_string(Device device);
/// Writes to_string(device).
CAIRN_API std::ostream& operator<<(std::ostream& out, Device device);
/// The inverse of to_string; empty for any other text.
CAIRN_API std::optional<Device> parse_device(std::string_view text) noexcept;

class Symbols;
namespace detail {
struct DimNode;
class DimTable;
}  // namespace detail

/// A size: an integer polynomial over bounded symbols, with floordiv, ceildiv, mod, min and max of such polynomials as
/// further atoms. Polynomials are kept in normal form and interned in their Symbols, so two Dims are equal exactly when
/// their polynomials are.
///
///     Dim n = g.symbol("N", 1, 1024);
///     Dim m = 2 * n + 3;             // prints as 3 + 2*N
///
/// A Dim keeps its symbol table alive; copying one is cheap. Mixing symbols of two tables throws Error(graph), as does
/// an overflow of 64-bit arithmetic.
class CAIRN_API Dim {
public:
    Dim() noexcept = default;
    /// A constant; implicit so that `{n, 768}` is a Shape. Throws Error(graph) for an unsigned value above INT64_MAX.
    template <std::integral T>
    requires(!std::same_as<T, bool>) Dim(T value) : value_(static_cast<std::int64_t>(value)) {
        if (std::unsigned_integral<T> && value_ < 0) refuse(static_cast<std::uint64_t>(value));
    }

    /// True if it contains no symbol.
    bool is_constant() const noexcept { return node_ == nullptr; }
    /// The value of a constant; throws Error(graph) naming the Dim otherwise.
    std::int64_t constant() const;
    /// The value for the given values of the symbols, in the order of Symbols::list(). Throws Error(argument) on
    /// division by zero.
    std::int64_t evaluate(std::span<const std::int64_t> symbol_values) const;
    /// Inclusive bounds implied by the symbols' bounds (interval arithmetic: never too narrow, sometimes too wide).
    std::int64_t lower_bound() const;
    std::int64_t upper_bound() const;
    /// The name, if this Dim is a bare symbol; empty otherwise.
    std::string_view symbol() const noexcept;
    /// The table of its symbols; null for a constant.
    std::shared_ptr<Symbols> symbols() const;

    /// Sum, difference and product of polynomials.
    friend CAIRN_API Dim operator+(const Dim& a, const Dim& b);
    friend CAIRN_API Dim operator-(const Dim& a, const Dim& b);
    friend CAIRN_API Dim operator*(const Dim& a, const Dim& b);
    /// True for the same polynomial of the same table. Different Dims may still be equal for some values of the
    /// symbols.
    friend bool operator==(const Dim& a, const Dim& b) noexcept { return a.node_ == b.node_ && a.value_ == b.value_; }

    /// The interned node (null for constants): its address identifies the Dim, its contents are the polynomial.
    const detail::DimNode* node() const noexcept { return node_.get(); }

private:
    friend class detail::DimTable;
    explicit Dim(std::shared_ptr<const detail::DimNode> node) noexcept : node_(std::move(node)) {}
    [[noreturn]] static void refuse(std::uint64_t value);
    std::shared_ptr<const detail::DimNode> node_;
    std::int64_t value_ = 0;
};

/// floor(a / b), ceil(a / b), a mod b (with the sign of b), for b that cannot be zero; minimum and maximum. They
/// simplify if the result is provable (`floordiv(4*N, 2) = 2*N`, `min(N, N + 1) = N`), and divisible or common terms
/// are extracted (`floordiv(3*N + 5, 3) = 1 + N`, `min(N + 1, M + 1) = 1 + min(M, N)`). A ceildiv is stored as a
/// floordiv, so `ceildiv(N, 32)` equals `floordiv(N + 31, 32)`. A constant b = 0 throws Error(graph).
CAIRN_API Dim floordiv(const Dim& a, const Dim& b);
CAIRN_API Dim ceildiv(const Dim& a, const Dim& b);
CAIRN_API Dim mod(const Dim& a, const Dim& b);
CAIRN_API Dim min(const Dim& a, const Dim& b);
CAIRN_API Dim max(const Dim& a, const Dim& b);

/// Negation; the operators `/` and `%` are floordiv and mod: `n / 2` is the floor of the half.
inline Dim operator-(const Dim& a) { return Dim(0) - a; }
inline Dim operator/(const Dim& a, const Dim& b) { return floordiv(a, b); }
inline Dim operator%(const Dim& a, const Dim& b) { return mod(a, b); }
/// Compound assignment: a = a + b, and so on.
inline Dim& operator+=(Dim& a, const Dim& b) { return a = a + b; }
inline Dim& operator-=(Dim& a, const Dim& b) { return a = a - b; }
inline Dim& operator*=(Dim& a, const Dim& b) { return a = a * b; }
inline Dim& operator/=(Dim& a, const Dim& b) { return a = a / b; }
/// Deleted: the order of two sizes is known only if it is proved. See provably_le.
void operator<(const Dim& a, const Dim& b) = delete;
void operator<=(const Dim& a, const Dim& b) = delete;
void operator>(const Dim& a, const Dim& b) = delete;
void operator>=(const Dim& a, const Dim& b) = delete;

/// True if a <= b is proved for every value of the symbols within their bounds: by interval arithmetic, or because no
/// coefficient of b - a is negative after each symbol is shifted to one of its bounds. min, max and floordiv by a
/// constant are replaced by their bounds (`N <= 32*ceildiv(N, 32)` is proved). False means "not proved", not "wrong".
CAIRN_API bool provably_le(const Dim& a, const Dim& b);
/// True if a != b is proved likewise: one of them is less than the other for all values. (operator== proves a == b.)
CAIRN_API bool provably_ne(const Dim& a, const Dim& b);

/// `3 + 2*N`, `floordiv(N, 2)`: Symbols::parse returns an equal Dim. Terms are ordered by degree and by names of
/// symbols, so the text is the same for every table.
CAIRN_API std::string to_string(const Dim& dim);
/// Writes to_string(dim).
CAIRN_API std::ostream& operator<<(std::ostream& out, const Dim& dim);

/// The symbols of one graph or program, and the table that interns their Dims. Thread-safe.
class CAIRN_API Symbols : public std::enable_shared_from_this<Symbols> {
public:
    /// A symbol, as in list().
    struct Symbol {
        std::string name;        ///< unique in its table
        std::int64_t low, high;  ///< inclusive bounds
    };
    /// Creates an empty table.
    static std::shared_ptr<Symbols> create();
    ~Symbols();
    Symbols(const Symbols&) = delete;
    Symbols& operator=(const Symbols&) = delete;

    /// Adds a symbol, or returns the existing one of that name if the bounds agree. Throws Error(graph) for an empty or
    /// ill-formed name, for bounds with low < 0 or low > high ("unbounded symbol" if high is INT64_MAX), and if the
    /// name already has other bounds.
    Dim add(std::string_view name, std::int64_t low, std::int64_t high);
    /// The symbol of that name; empty if there is none.
    std::optional<Dim> find(std::string_view name) const;
    /// All symbols in creation order; evaluate() takes values in this order.
    std::vector<Symbol> list() const;
    /// Parses the output of to_string(Dim). Throws Error(argument) with the position of the fault.
    Dim parse(std::string_view text);
    /// `dim` (of any table) with each symbol replaced by `replacements[i]`, a Dim of this table or a constant, where i
    /// is the symbol's index in list() of its own table.
    Dim substitute(const Dim& dim, std::span<const Dim> replacements);

private:
    Symbols();
    friend class detail::DimTable;
    std::unique_ptr<detail::DimTable> table_;
};

/// The sizes of a tensor, outermost first; rank 0 is a scalar.
using Shape = std::vector<Dim>;

/// `[N,768]`; a scalar prints as `[]`.
CAIRN_API std::string to_string(const Shape& shape);
/// Writes to_string(shape).
CAIRN_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// `f32[N,768]`, as in error messages and text forms.
CAIRN_API std::string to_string(DType dtype, const Shape& shape);
/// The product of the sizes (1 for a scalar).
CAIRN_API Dim element_count(const Shape& shape);
/// Strides in elements of a dense row-major tensor: `[N,768]` has `[768,1]`.
CAIRN_API std::vector<Dim> dense_strides(const Shape& shape);

/// A borrowed tensor, modelled on DLPack, so that DLPack tensors can be passed on unchanged. All binding calls take it.
/// `release`, if set, is called exactly once with `owner` when Cairn no longer reads the memory (from the thread that
/// drops it). Without it the caller must keep the memory valid as long as the object it was bound to lives.
struct InputView {
    const void* data = nullptr;              ///< the first element
    DType dtype = DType::f32;                ///< of the elements
    std::vector<std::int64_t> shape = {};    ///< sizes, outermost first
    std::vector<std::int64_t> strides = {};  ///< in elements; empty: dense
    Device device = Device::cpu;             ///< the device of the memory
    void* owner = nullptr;                   ///< argument of release
    void (*release)(void* owner) = nullptr;
};

}  // namespace cairn::inline v0
