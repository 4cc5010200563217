#include "tests/graph/ir/random_graph_builder.hpp"

#include <algorithm>

/// States: chains of appends, writes and assignments whose versions are read together, so that old contents are needed
/// while new ones exist.
namespace cairn::test {

bool RandomGraphBuilder::state() {
    if (has_state_) return false;
    has_state_ = true;
    const bool grows = !random_.one_in(3);
    const auto rank = static_cast<int>(random_.between(grows ? 1 : 0, 3));
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push_back(grows ? any_size() : Dim(random_.between(1, 4)));
    const int axis = rank == 0 ? 0 : random_.below(rank);
    if (grows) shape[static_cast<std::size_t>(axis)] = graph_.symbol("P", random_.below(2), 3);
    State memory = grows ? graph_.state("memory", options_.dtype, shape, axis, 32)
                   : size_of(options_.dtype) >= 4 && random_.one_in(2) ? state_with_values(shape)
                                                                       : graph_.state("memory", options_.dtype, shape);
    std::vector<BoundedValue> versions{{memory.read()}};
    const int changes = random_.below(5);
    for (int i = 0; i < changes; ++i) versions.push_back(change(memory, versions, axis, grows));
    for (const BoundedValue& version : versions)
        if (random_.one_in(2)) keep(version.tensor, version.limit, version.error, version.quantum);
    read_together(versions, axis);
    return true;
}

/// A state of fixed size, f32 or f64, that begins with small numbers.
State RandomGraphBuilder::state_with_values(const Shape& shape) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(shape).constant(); ++i)
        values.push_back(static_cast<double>(random_.between(-16, 16)) / 8);
    if (options_.dtype == DType::f64) return graph_.state("memory", DType::f64, shape, values);
    return graph_.state("memory", DType::f32, shape, std::vector<float>(values.begin(), values.end()));
}

/// The next version: rows appended, written over a slice of any axis, or over all of it.
BoundedValue RandomGraphBuilder::change(State& memory, const std::vector<BoundedValue>& versions, int axis,
                                        bool grows) {
    const Tensor latest = memory.latest();
    Shape rows = latest.shape();
    const int other = rows.empty() ? 0 : random_.below(static_cast<int>(rows.size()));
    const bool fits = !rows.empty() && provably_le(1, rows[static_cast<std::size_t>(other)]);
    const auto keep_joined = [&](const Tensor& next, const BoundedValue& part) {
        const BoundedValue& before = versions.back();
        const bool exact = before.exact() && part.exact();
        return BoundedValue{next, std::max(before.limit, part.limit), std::max(before.error, part.error),
                            exact ? std::max(before.quantum, part.quantum) : -1};
    };
    switch (random_.below(grows ? 4 : 2)) {
        case 0: {
            const BoundedValue& from = random_.pick(versions);
            if (from.tensor.shape() != latest.shape()) break;
            return {memory.assign(from.tensor * -1.0), from.limit, from.error, from.quantum};
        }
        case 1: {
            if (!fits) break;
            const Dim last = rows[static_cast<std::size_t>(other)] - 1;
            rows[static_cast<std::size_t>(other)] = 1;
            const BoundedValue part = rows_for(rows, versions, other);
            return keep_joined(memory.write(part.tensor, random_.one_in(2) ? Dim(0) : last, other), part);
        }
        default: {
            rows[static_cast<std::size_t>(axis)] = any_size();
            const BoundedValue part = rows_for(rows, versions, axis);
            return keep_joined(memory.append(part.tensor), part);
        }
    }
    const BoundedValue whole = leaf(latest.shape());
    return {memory.assign(whole.tensor), whole.limit, whole.error, whole.quantum};
}

/// Rows of this shape: a slice of a version of the same state, rows computed in another shape or axis order (which
/// other nodes may read too), or new ones, as they are or computed in place.
BoundedValue RandomGraphBuilder::rows_for(const Shape& shape, const std::vector<BoundedValue>& versions, int axis) {
    const Dim count = shape[static_cast<std::size_t>(axis)];
    const BoundedValue& from = random_.pick(versions);
    Shape wanted = from.tensor.shape();
    wanted[static_cast<std::size_t>(axis)] = count;
    if (wanted == shape && provably_le(count, from.tensor.dim(axis)) && random_.one_in(2))
        return {slice(from.tensor, axis, 0, count), from.limit, from.error, from.quantum};
    if (random_.one_in(3)) {
        const BoundedValue computed = computed_rows(shape);
        if (random_.one_in(3)) keep(computed.tensor, computed.limit, computed.error, computed.quantum);
        return computed;
    }
    const BoundedValue added = leaf(shape);
    return random_.one_in(4) ? BoundedValue{tanh(added.tensor), 2, 8, -1} : added;
}

BoundedValue RandomGraphBuilder::computed_rows(const Shape& shape) {
    const auto negated = [&](const Shape& made) {
        BoundedValue item = leaf(made);
        item.tensor = item.tensor * -1.0;
        return item;
    };
    BoundedValue rows;
    if (shape.size() < 2 || random_.one_in(3)) {
        rows = negated({element_count(shape)});
        rows.tensor = reshape(rows.tensor, shape);
        return rows;
    }
    Shape swapped = shape;
    std::swap(swapped[shape.size() - 1], swapped[shape.size() - 2]);
    std::vector<int> axes;
    for (std::size_t i = 0; i < shape.size(); ++i) axes.push_back(static_cast<int>(i));
    std::swap(axes[shape.size() - 1], axes[shape.size() - 2]);
    rows = negated(swapped);
    rows.tensor = transpose(rows.tensor, axes);
    return rows;
}

void RandomGraphBuilder::read_together(const std::vector<BoundedValue>& versions, int axis) {
    const int times = random_.below(3);
    for (int i = 0; i < times; ++i) {
        const BoundedValue& a = random_.pick(versions);
        const BoundedValue& b = random_.pick(versions);
        const bool alike = a.tensor.shape() == b.tensor.shape(), exact = a.exact() && b.exact();
        const BoundedValue both{a.tensor, std::max(a.limit, b.limit), std::max(a.error, b.error),
                                exact ? std::max(a.quantum, b.quantum) : -1};
        const int how = random_.below(3);
        if (how == 0 && alike && exact)
            keep_boolean(a.tensor < b.tensor);
        else if (how == 1 && alike && exact)
            keep_moved(where(a.tensor < b.tensor, a.tensor, b.tensor), both);
        else if (a.tensor.rank() > 0)
            keep_moved(concat({a.tensor, b.tensor}, axis), both);
    }
    for (std::size_t i = 0; i < versions.size(); ++i)
        if (random_.one_in(4)) graph_.output("version" + std::to_string(i), versions[i].tensor);
}

}  // namespace cairn::test
