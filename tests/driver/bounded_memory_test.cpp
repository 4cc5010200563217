#include "cairn/cairn.hpp"
#include "runtime/compiled_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

// Memory of compiled windows, pools, convolutions, resizing, norms, scans and sorts is bounded by the size of their
// operands, for long rows, tall columns, large squares and many channels, with fixed and symbolic sizes.
namespace cairn::test {
namespace {

using Build = std::function<Tensor(Graph& g, const Tensor& x)>;

struct Op {
    std::string name;
    Build build;
    /// Upper bound of the arena relative to the bytes of inputs, weights and outputs; `why` explains one above the
    /// usual.
    std::int64_t most = 3;
    const char* why = "";
};

/// Bytes of the arena and of each workspace that do not depend on sizes: tiles that fit in the cache.
constexpr std::int64_t bytes_of_tiles = 2 << 20;

Tensor filters(Graph& g, const Tensor& x, std::int64_t count, std::int64_t channels, std::int64_t size,
               const std::string& name = "w") {
    Shape shape{count, channels};
    for (int axis = 2; axis < x.rank(); ++axis) shape.push_back(size);
    return g.weight(name, x.dtype(), shape);
}
Tensor conv(const Tensor& x, const Tensor& w, const ConvOptions& options = {}) {
    return x.rank() == 3 ? conv1d(x, w, options) : conv2d(x, w, options);
}
Tensor conv_transpose(const Tensor& x, const Tensor& w, const ConvOptions& options) {
    return x.rank() == 3 ? conv_transpose1d(x, w, options) : conv_transpose2d(x, w, options);
}
std::int64_t channels(const Tensor& x) { return x.dim(1).upper_bound(); }
int groups_of(const Tensor& x) { return static_cast<int>(channels(x)); }

/// Window sizes: 2 along each spatial axis, 1 along axes of size 1.
IntList kernel_of(const Tensor& x) {
    std::vector<int> kernel;
    for (int axis = 2; axis < x.rank(); ++axis) kernel.push_back(x.dim(axis) == Dim(1) ? 1 : 2);
    return kernel;
}

/// Pools of f64 and i64, and those of more than 32 elements along an axis.
constexpr const char* padded_copy = "is a reduction of windows of a padded copy";

std::vector<Op> pools_and_convolutions() {
    std::vector<Op> ops;
    ops.push_back({"max_pool 3", [](Graph&, const Tensor& x) { return max_pool(x, 3, {.stride = 1, .padding = 1}); }});
    ops.push_back({"max_pool 3 of stride 2",
                   [](Graph&, const Tensor& x) { return max_pool(x, 3, {.stride = 2, .padding = 1}); }, 4,
                   padded_copy});
    ops.push_back({"max_pool 9 of dilation 20", [](Graph&, const Tensor& x) {
                       return max_pool(pad(x, -1, 160, 160), x.rank() == 3 ? IntList{9} : IntList{1, 9},
                                       {.stride = 1, .dilation = x.rank() == 3 ? IntList{20} : IntList{1, 20}});
                   }});
    ops.push_back({"max_pool 40", [](Graph&, const Tensor& x) { return max_pool(x, 40, {.stride = 1, .padding = 39}); },
                   4, padded_copy});
    for (const std::int64_t count : {1, 4, 40}) {
        ops.push_back({"conv of " + std::to_string(count) + " filters", [count](Graph& g, const Tensor& x) {
                           return conv(x, filters(g, x, count, channels(x), 3), {.padding = 1});
                       }});
        ops.push_back(
            {"conv of " + std::to_string(count) + " filters and stride 2", [count](Graph& g, const Tensor& x) {
                 return conv(x, filters(g, x, count, channels(x), 7), {.stride = 2, .padding = 3});
             }});
        ops.push_back(
            {"conv of " + std::to_string(count) + " filters and dilation 24", [count](Graph& g, const Tensor& x) {
                 return conv(x, filters(g, x, count, channels(x), 3), {.padding = 24, .dilation = 24});
             }});
    }
    ops.push_back({"conv with a bias", [](Graph& g, const Tensor& x) {
                       const Tensor w = filters(g, x, 8, channels(x), 5), b = g.weight("b", x.dtype(), {8});
                       return x.rank() == 3 ? conv1d(x, w, b, {.padding = 2}) : conv2d(x, w, b, {.padding = 2});
                   }});
    ops.push_back({"conv of each channel", [](Graph& g, const Tensor& x) {
                       return conv(x, filters(g, x, channels(x), 1, 3), {.padding = 1, .groups = groups_of(x)});
                   }});
    ops.push_back({"conv of each channel, then a gate", [](Graph& g, const Tensor& x) {
                       const Tensor y =
                           conv(x, filters(g, x, channels(x), 1, 3), {.padding = 1, .groups = groups_of(x)});
                       return y * clamp(y, 0, 1);
                   }});
    ops.push_back({"conv, then max_pool",
                   [](Graph& g, const Tensor& x) {
                       const Tensor y = conv(x, filters(g, x, 8, channels(x), 3), {.padding = 1});
                       return max_pool(y, kernel_of(y));
                   },
                   4, "holds the result of the convolution, which is larger than that of the pool"});
    ops.push_back({"conv, then conv",
                   [](Graph& g, const Tensor& x) {
                       const Tensor y = conv(x, filters(g, x, 8, channels(x), 3), {.padding = 1});
                       return conv(y, filters(g, y, 2, 8, 3, "v"), {.padding = 1});
                   },
                   4, "holds the result of the first convolution, which is larger than that of the second"});
    ops.push_back({"conv_transpose",
                   [](Graph& g, const Tensor& x) {
                       Shape shape{channels(x), 3};
                       for (int axis = 2; axis < x.rank(); ++axis) shape.push_back(4);
                       return conv_transpose(x, g.weight("w", x.dtype(), shape), {.stride = 2, .padding = 1});
                   },
                   4, "phases are interleaved in a copy with up to stride - 1 places more on each side"});
    ops.push_back(
        {"sum of windows", [](Graph&, const Tensor& x) { return sum(window(pad(x, -1, 2, 2), -1, 5), {-1}); }});
    return ops;
}

std::vector<Op> of_floats() {
    std::vector<Op> ops;
    ops.push_back({"avg_pool 3", [](Graph&, const Tensor& x) { return avg_pool(x, 3, {.stride = 1, .padding = 1}); }});
    ops.push_back(
        {"avg_pool 2",
         [](Graph&, const Tensor& x) { return avg_pool(x, 2, {.stride = 2, .padding = 1, .count_padding = true}); }, 4,
         padded_copy});
    ops.push_back({"upsample_linear", [](Graph&, const Tensor& x) { return upsample_linear(x, 2); }});
    ops.push_back({"softmax of rows", [](Graph&, const Tensor& x) { return softmax(x, -1); }});
    ops.push_back({"log_softmax of columns", [](Graph&, const Tensor& x) { return log_softmax(x, -2); }});
    ops.push_back({"layer_norm", [](Graph& g, const Tensor& x) {
                       const Dim size = x.dim(-1);
                       return layer_norm(x, g.input("gamma", x.dtype(), {size}), g.input("beta", x.dtype(), {size}));
                   }});
    ops.push_back({"rms_norm", [](Graph&, const Tensor& x) { return rms_norm(x); }});
    ops.push_back({"instance_norm", [](Graph& g, const Tensor& x) {
                       return instance_norm(x, g.weight("gamma", x.dtype(), {channels(x)}),
                                            g.weight("beta", x.dtype(), {channels(x)}));
                   }});
    ops.push_back({"variance", [](Graph&, const Tensor& x) { return variance(x, {-1}, true); }});
    return ops;
}

std::vector<Op> of_numbers() {
    std::vector<Op> ops;
    ops.push_back({"upsample_nearest", [](Graph&, const Tensor& x) { return upsample_nearest(x, 2); }});
    ops.push_back({"cumsum of rows", [](Graph&, const Tensor& x) { return cumsum(x, -1); }});
    ops.push_back({"cumsum of columns", [](Graph&, const Tensor& x) { return cumsum(x, -2); }});
    ops.push_back({"argsort", [](Graph&, const Tensor& x) { return argsort(x, -1); }, 4,
                   "keys stand beside their places, twice: 16 bytes, more than elements of 16 bits and an index"});
    ops.push_back({"sort", [](Graph&, const Tensor& x) { return sort(x, -1).values; }, 7,
                   "the same, and an index of 32 bits for each element"});
    ops.push_back({"argmax", [](Graph&, const Tensor& x) { return argmax(x, -1, true); }});
    ops.push_back({"sum of rows", [](Graph&, const Tensor& x) { return sum(x, {-1}, true); }});
    ops.push_back({"max of columns", [](Graph&, const Tensor& x) { return max_reduce(x, {-2}, true); }});
    return ops;
}

constexpr std::int64_t large = std::int64_t{1} << 20;
const std::vector<std::vector<std::int64_t>> shapes = {
    {1, 1, large},    {2, 3, large / 8},    {1, 1024, 1024},   {1, 1, 1, large},
    {1, 1, large, 1}, {1, 2, large / 8, 4}, {1, 2, 1024, 512}, {1, 4096, 16, 16},
};

std::int64_t bytes_of(const Tensor& tensor) {
    std::int64_t count = 1;
    for (const Dim& size : tensor.shape()) count *= size.upper_bound();
    return count * static_cast<std::int64_t>(size_of(tensor.dtype()));
}

std::string text_of(const std::vector<std::int64_t>& shape, DType dtype) {
    std::string text(to_string(dtype));
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "[" : ",") + std::to_string(shape[i]);
    return text + "]";
}

/// Compiles an op on an input of this shape; if `is_symbolic`, the spatial sizes are symbols with these maxima.
void check(const Op& op, const std::vector<std::int64_t>& shape, DType dtype, bool is_symbolic,
           const Context& context) {
    const std::string what = op.name + " of " + text_of(shape, dtype) + (is_symbolic ? " at most" : "") + " with " +
                             std::to_string(context.threads()) + " threads";
    SCOPED_TRACE(what);
    Graph g("g");
    Shape sizes(shape.begin(), shape.end());
    for (std::size_t i = 2; is_symbolic && i < sizes.size(); ++i)
        if (shape[i] > 1) sizes[i] = g.symbol("S" + std::to_string(i), std::min<std::int64_t>(shape[i], 16), shape[i]);
    const Tensor x = g.input("x", dtype, sizes), y = op.build(g, x);
    g.output("y", y);
    const CompiledGraph compiled = compile(g, context);
    std::int64_t bytes = bytes_of(x) + bytes_of(y);
    const runtime::ProgramSet set = runtime::parse_program_set(compiled.program());
    for (const program::Buffer& buffer : set.buckets[0].program.buffers)
        if (buffer.kind == program::BufferKind::weight) bytes += buffer.bytes.upper_bound();
    // Composites of 16-bit floats compute in f32 (docs/decisions/0088): values between two instructions are f32.
    if (size_of(dtype) == 2) bytes *= 2;
    const std::int64_t most = op.most * bytes + bytes_of_tiles;
    EXPECT_LE(compiled.memory().arena, most) << compiled.program();
    for (const runtime::BucketProgram& bucket : set.buckets)
        for (const program::Instruction& instruction : bucket.program.run)
            if (instruction.workspace >= 0) {
                const auto buffer = static_cast<std::size_t>(instruction.workspace);
                EXPECT_LE(bucket.program.buffers[buffer].bytes.upper_bound(), most) << to_string(*instruction.problem);
            }
}

class BoundedMemory : public testing::TestWithParam<std::size_t> {
protected:
    static void SetUpTestSuite() {
        one_ = std::make_unique<Context>();
        two_ = std::make_unique<Context>(ContextOptions{.threads = 2});
    }
    static void TearDownTestSuite() {
        one_.reset();
        two_.reset();
    }

    void check_all(const std::vector<Op>& ops, const std::vector<DType>& narrow) const {
        const std::vector<std::int64_t>& shape = shapes[GetParam()];
        for (const Op& op : ops) {
            check(op, shape, DType::f32, false, *one_);
            check(op, shape, DType::f32, false, *two_);
            check(op, shape, DType::f32, true, *two_);
            for (const DType dtype : narrow) check(op, shape, dtype, false, *two_);
        }
    }

private:
    static inline std::unique_ptr<Context> one_, two_;
};

TEST_P(BoundedMemory, OfPoolsAndConvolutions) {
    check_all(pools_and_convolutions(), {DType::bf16, DType::f64, DType::i32, DType::i8});
}
TEST_P(BoundedMemory, OfFloats) { check_all(of_floats(), {DType::f16, DType::f64}); }
TEST_P(BoundedMemory, OfNumbers) { check_all(of_numbers(), {DType::f16, DType::f64, DType::i64, DType::u8}); }

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
    std::string name = text_of(shapes[info.param], DType::f32);
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return name;
}
INSTANTIATE_TEST_SUITE_P(Shapes, BoundedMemory, testing::Range<std::size_t>(0, shapes.size()), name_of);

}  // namespace
}  // namespace cairn::test
