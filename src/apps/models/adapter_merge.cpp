#include "apps/models/adapter_bank.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

/// Weights with an adapter added as they are bound, computed by graphs of the library itself.
namespace cairn::inline v0::models {
namespace {

/// Graphs that add a product of two matrices to a weight, one for each shape and dtype.
class WeightMerger {
public:
    /// w [P, Q] + left [P, R] @ right [R, Q], rounded to the dtype of w. Releases w.
    InputView merged(const InputView& w, const std::vector<float>& left, const std::vector<float>& right,
                     std::int64_t rank, std::optional<double>& rounding) {
        CompiledGraph& compiled = graph_for(w, rank);
        compiled.set("w", w);
        compiled.set("left", std::span(left), {w.shape[0], rank});
        compiled.set("right", std::span(right), {rank, w.shape[1]});
        compiled.run();
        rounding = std::max(rounding.value_or(0), compiled.output("rounding").as<double>()[0]);
        return owned(compiled.output("merged"), w.shape);
    }
    /// Elements of f32, rounded to another dtype.
    InputView rounded(const std::vector<float>& values, const std::vector<std::int64_t>& shape, DType dtype) {
        Graph graph("rounded");
        const Shape sizes(shape.begin(), shape.end());
        graph.output("rounded", cast(graph.input("x", DType::f32, sizes), dtype));
        CompiledGraph compiled = compile(graph, context_);
        compiled.set("x", std::span(values), shape);
        compiled.run();
        return owned(compiled.output("rounded"), shape);
    }

private:
    CompiledGraph& graph_for(const InputView& w, std::int64_t rank) {
        Graph graph("merge");
        const DType wide = w.dtype == DType::f64 ? DType::f64 : DType::f32;
        const auto widened = [&](const Tensor& x) { return cast(x, wide); };
        const Dim rows = w.shape[0], columns = w.shape[1];
        const Tensor base = graph.input("w", w.dtype, {rows, columns});
        const Tensor left = graph.input("left", DType::f32, {rows, rank}),
                     right = graph.input("right", DType::f32, {rank, columns});
        const Tensor exact = widened(base) + matmul(widened(left), widened(right));
        const Tensor merged = cast(exact, w.dtype);
        graph.output("merged", merged);
        const auto largest = [](const Tensor& x) { return cast(max_reduce(abs(x)), DType::f64); };
        graph.output("rounding", largest(widened(merged) - exact) / max(largest(exact), 1e-300));
        const std::string key = to_string(graph);
        const auto known = compiled_.find(key);
        return known != compiled_.end() ? known->second
                                        : compiled_.emplace(key, compile(graph, context_)).first->second;
    }

    static InputView owned(const OutputView& output, const std::vector<std::int64_t>& shape) {
        std::size_t bytes = size_of(output.dtype);
        for (const std::int64_t size : shape) bytes *= static_cast<std::size_t>(size);
        auto copy = std::make_unique<std::vector<std::byte>>(bytes);
        if (bytes > 0) std::memcpy(copy->data(), output.data, bytes);
        InputView view{.data = copy->data(), .dtype = output.dtype, .shape = shape};
        view.owner = copy.release();
        view.release = [](void* owner) { delete static_cast<std::vector<std::byte>*>(owner); };
        return view;
    }

    Context context_;  // of its own: binding may occupy the threads of the model's
    std::map<std::string, CompiledGraph> compiled_;
};

/// The two factors of what an update adds to a weight as it is stored: b a, or its transpose.
struct Factors {
    std::vector<float> left, right;
    std::int64_t rank;
};

std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t rows) {
    std::vector<float> result(matrix.size());
    const std::size_t height = static_cast<std::size_t>(rows), width = matrix.size() / height;
    for (std::size_t i = 0; i < matrix.size(); ++i) result[i % width * height + i / width] = matrix[i];
    return result;
}

/// FNV-1a over the bits of numbers.
std::uint64_t digest_of(const std::vector<double>& numbers) {
    std::uint64_t digest = 0xcbf29ce484222325;
    for (const double number : numbers)
        for (int byte = 0; byte < 8; ++byte)
            digest = (digest ^ (std::bit_cast<std::uint64_t>(number) >> (8 * byte) & 255)) * 0x100000001b3;
    return digest;
}

}  // namespace

WeightSource AdapterBank::merged(WeightSource source, const std::vector<WeightSpec>& weights) {
    if (options_.list.empty() || options_.form != AdapterForm::merged) return source;
    const NamedAdapter& named = options_.list.front();
    std::map<std::string, Factors, std::less<>> factors;
    for (const AdapterSite& site : sites_) {
        const LoraUpdate* update = update_at(named.adapter, site);
        if (update == nullptr || named.scale * update->scale == 0) continue;
        std::vector<float> b = transposed_b(named.adapter, site, *update);
        for (float& element : b)
            element = static_cast<float>(named.scale * update->scale * static_cast<double>(element));
        const bool is_out_in = (site.order == MatrixOrder::out_in) != site.is_stored_transposed;
        factors.emplace(site.weight, is_out_in ? Factors{transposed(b, update->rank), update->a, update->rank}
                                               : Factors{transposed(update->a, update->rank), b, update->rank});
    }
    std::map<std::string, DType, std::less<>> dtypes;
    for (const WeightSpec& spec : weights) dtypes.emplace(spec.name, spec.dtype);
    rounding_ = std::make_shared<std::optional<double>>();
    return [source = std::move(source), factors = std::move(factors), dtypes = std::move(dtypes), rounding = rounding_,
            adapter = named.adapter, saved = saved_names(named.adapter, weights),
            merger = std::make_shared<WeightMerger>()](std::string_view name) {
        if (const auto replaced = saved.find(name); replaced != saved.end())
            return merger->rounded(replaced->second->values, replaced->second->shape, dtypes.find(name)->second);
        const InputView view = source(name);
        const auto found = factors.find(name);
        if (found == factors.end()) return view;
        return merger->merged(view, found->second.left, found->second.right, found->second.rank, *rounding);
    };
}

std::string AdapterBank::fingerprint() const {
    if (options_.list.empty() || options_.form != AdapterForm::merged) return {};
    const NamedAdapter& named = options_.list.front();
    std::vector<double> numbers{named.scale};
    for (const LoraUpdate& update : named.adapter.updates()) numbers.push_back(update.scale);
    if (named.adapter.state().fingerprint.empty())
        for (const LoraUpdate& update : named.adapter.updates())
            for (const std::vector<float>* values : {&update.a, &update.b})
                numbers.insert(numbers.end(), values->begin(), values->end());
    return '+' + named.adapter.state().fingerprint + '+' + std::to_string(digest_of(numbers));
}

}  // namespace cairn::inline v0::models
