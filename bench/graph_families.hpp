#pragma once

#include "cairn/cairn.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

/// Families of graphs of any size, on which compile time is measured. Each function adds about `nodes` nodes.
namespace cairn::bench {

/// A chain of alternating sin and tanh.
inline void chain(const Graph& graph, Tensor x, int nodes) {
    for (int i = 0; i < nodes; ++i) x = i % 2 ? tanh(x) : sin(x);
    Graph(graph).output("y", x);
}

/// Leaky ReLUs. Each step reads the previous value three times: expanded to a tree, there are 3^(nodes / 3) leaves.
inline void leaky(const Graph& graph, Tensor x, int nodes) {
    for (int i = 0; i < nodes / 3; ++i) x = where(x > 0, x, 0.1 * x);
    Graph(graph).output("y", reshape(x, {16, 8}));
}

/// A long chain of additions.
inline void adds(const Graph& graph, Tensor x, int nodes) {
    const Tensor first = x;
    for (int i = 0; i < nodes / 2; ++i) x = x + cos(first * (1.0 + i));
    Graph(graph).output("y", x);
}

/// One value read by many branches, whose results a binary tree of additions reduces to one value.
inline void wide(const Graph& graph, const Tensor& x, int nodes) {
    std::vector<Tensor> level;
    for (int i = 0; i < nodes / 4; ++i) level.push_back(tanh(x * (0.5 + i)));
    while (level.size() > 1) {
        std::vector<Tensor> next;
        for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
        if (level.size() % 2 != 0) next.push_back(level.back());
        level = std::move(next);
    }
    Graph(graph).output("y", level[0]);
}

/// Feed-forward blocks of a transformer, without attention.
inline void layered(const Graph& graph, Tensor x, int nodes) {
    Graph model = graph;
    for (int i = 0; i < nodes / 40; ++i) {
        const std::string name = "layer" + std::to_string(i);
        const Tensor gamma = model.weight(name + ".gamma", DType::f32, {16});
        const Tensor beta = model.weight(name + ".beta", DType::f32, {16});
        const Tensor up = model.weight(name + ".up", DType::f32, {16, 32});
        const Tensor down = model.weight(name + ".down", DType::f32, {32, 16});
        x = x + matmul(gelu_tanh(matmul(layer_norm(x, gamma, beta, 1e-5f), up)), down);
    }
    model.output("y", x);
}

/// Unrolled Runge-Kutta steps of a damped oscillator.
inline void ode(const Graph& graph, const Tensor& x, int nodes) {
    const double h = 0.01;
    Tensor p = x, v = cos(x);
    const auto force = [](const Tensor& at, const Tensor& speed) { return -1.0 * at - 0.1 * speed - at * at * at; };
    for (int i = 0; i < nodes / 55; ++i) {
        const Tensor k1 = v, l1 = force(p, v);
        const Tensor k2 = v + h / 2 * l1, l2 = force(p + h / 2 * k1, k2);
        const Tensor k3 = v + h / 2 * l2, l3 = force(p + h / 2 * k2, k3);
        const Tensor k4 = v + h * l3, l4 = force(p + h * k3, k4);
        p = p + h / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        v = v + h / 6 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    Graph(graph).output("p", p);
    Graph(graph).output("v", v);
}

/// Random ops on random earlier values.
inline void random(const Graph& graph, const Tensor& x, int nodes) {
    std::mt19937 random(7);
    std::vector<Tensor> values{x};
    while (static_cast<int>(values.size()) < nodes) {
        const auto any = [&] {
            const std::size_t near = random() % 4 == 0 ? values.size() : std::min<std::size_t>(values.size(), 40);
            return values[values.size() - 1 - random() % near];
        };
        switch (random() % 6) {
            case 0: values.push_back(any() + any()); break;
            case 1: values.push_back(any() * any()); break;
            case 2: values.push_back(tanh(any())); break;
            case 3: values.push_back(any() - any() * 0.5); break;
            case 4: values.push_back(max(any(), any())); break;
            default: values.push_back(exp(any())); break;
        }
    }
    Tensor last = values[0];
    for (std::size_t i = 0; i < values.size(); i += 100) last = last + values[i];
    Graph(graph).output("last", last * values.back());
}

/// Row slices of a table, concatenated again: all of them unchanged, and every second one after tanh.
inline void slices(const Graph& graph, const Tensor&, int nodes) {
    Graph model = graph;
    const int rows = nodes / 2;
    const Tensor table = model.input("table", DType::f32, {rows, 4});
    std::vector<Tensor> same, changed;
    for (int i = 0; i < rows; ++i) {
        same.push_back(slice(table, 0, i, i + 1));
        if (i % 2) changed.push_back(tanh(same.back()));
    }
    model.output("same", concat(same, 0));
    model.output("changed", concat(changed, 0));
}

/// A reshape and a transpose after every two elementwise ops.
inline void movement(const Graph& graph, Tensor x, int nodes) {
    for (int i = 0; i < nodes / 4; ++i) {
        x = reshape(tanh(x + 1.0), i % 2 ? Shape{8, 16} : Shape{4, 32});
        x = transpose(x, {1, 0});
    }
    Graph(graph).output("y", x);
}

/// A chain of products and tanh with one weight; the result is reshaped at the end.
inline void rows(const Graph& graph, Tensor x, int nodes) {
    Graph model = graph;
    const Tensor weight = model.weight("weight", DType::f32, {16, 16});
    for (int i = 0; i < nodes / 2; ++i) x = tanh(matmul(x, weight));
    model.output("y", reshape(x, {4, 2, 16}));
}

/// A chain of products with distinct weights. By associativity, any two neighbours may be multiplied first.
inline void chained(const Graph& graph, Tensor x, int nodes) {
    Graph model = graph;
    for (int i = 0; i < nodes / 2; ++i) x = matmul(x, model.weight("w" + std::to_string(i), DType::f32, {16, 16}));
    model.output("y", x);
}

/// Layers with low-rank adapters beside their weights; both halves of each result are read separately.
inline void adapted(const Graph& graph, Tensor x, int nodes) {
    Graph model = graph;
    for (int i = 0; i < nodes / 16; ++i) {
        const auto weight = [&](const char* name, int rows, int columns) {
            return model.weight(name + std::to_string(i), DType::f32, {rows, columns});
        };
        const Tensor low = matmul(matmul(x, weight("a", 16, 2)), weight("b", 2, 32)) * 0.5;
        const Tensor y = matmul(x, weight("w", 16, 32)) + weight("r", 1, 32) + low;
        x = x + tanh(slice(y, -1, 0, 16)) * slice(y, -1, 16, 32);
    }
    model.output("y", x);
}

/// Layers that gather rows of bf16 tables, multiply concatenated values, and read slices of products.
inline void parts(const Graph& graph, Tensor x, int nodes) {
    Graph model = graph;
    const Tensor ids = model.input("ids", DType::i32, {8});
    for (int i = 0; i < nodes / 16; ++i) {
        const auto weight = [&](const char* name, DType dtype, int rows, int columns) {
            return model.weight(name + std::to_string(i), dtype, {rows, columns});
        };
        const Tensor gathered = gather(cast(weight("t", DType::bf16, 9, 16), DType::f32), ids);
        const Tensor y = matmul(concat({x, gathered}, -1), weight("w", DType::f32, 32, 24));
        const Tensor z = matmul(tanh(x + slice(y, -1, 0, 16)), weight("v", DType::f32, 16, 16));
        x = x + slice(exp(z), 0, 7, 8);
    }
    model.output("y", x);
}

/// A product of sums, which the distributive law would expand.
inline void products(const Graph& graph, const Tensor& x, int nodes) {
    Tensor product = x;
    for (int i = 0; i < nodes / 4; ++i) product = product * (x + cos(x * (0.1 + i)));
    Graph(graph).output("y", product);
}

/// A chain that adds a distinct constant tensor in each step.
inline void constants(const Graph& graph, Tensor x, int nodes) {
    std::vector<double> numbers(128);
    for (int i = 0; i < nodes / 3; ++i) {
        for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = 1 + 0.001 * static_cast<double>(k) + i;
        x = tanh(x + Graph(graph).constant(DType::f32, {8, 16}, numbers));
    }
    Graph(graph).output("y", x);
}

/// A chain on one weight, which can be computed at bind.
inline void bound(const Graph& graph, const Tensor& x, int nodes) {
    const Tensor first = Graph(graph).weight("w", DType::f32, {16, 16});
    Tensor w = first;
    for (int i = 0; i < nodes / 2; ++i) w = i % 2 ? matmul(w, first) : tanh(w * 0.5);
    Graph(graph).output("y", matmul(x, w));
}

/// Many states that are assigned in the run that reads them, and one state that all steps read.
inline void states(const Graph& graph, Tensor x, int nodes) {
    Graph model = graph;
    State common = model.state("common", DType::f32, {8, 16});
    for (int i = 0; i < nodes / 6; ++i) {
        State own = model.state("own" + std::to_string(i), DType::f32, {8, 16});
        x = tanh(x * common.read()) + own.read();
        own.assign(x);
    }
    common.assign(x);
    model.output("y", x);
}

/// layer_norm of multiples of one value, added up: calls that differ in a factor.
inline void norms_add(const Graph& graph, const Tensor& x, int nodes) {
    Tensor y = x;
    for (int i = 0; i < nodes / 12; ++i) y = y + layer_norm(x * (i + 2.0), 1e-5);
    Graph(graph).output("y", y);
}

/// layer_norm of values that are not multiples of one another, all read by one concat.
inline void norms_exp(const Graph& graph, const Tensor& x, int nodes) {
    std::vector<Tensor> rows;
    for (int i = 0; i < nodes / 11; ++i) rows.push_back(layer_norm(sin(x + 1.0 * i), 1e-5));
    Graph(graph).output("y", concat(rows, 1));
}

/// layer_norm of multiples of one value, all read by one concat.
inline void norms(const Graph& graph, const Tensor& x, int nodes) {
    std::vector<Tensor> rows;
    for (int i = 0; i < nodes / 10; ++i) rows.push_back(layer_norm(x * (i + 2.0), 1e-5));
    Graph(graph).output("y", sum(concat(rows, 1), {1}));
}

/// A chain in which every second value is an output.
inline void outputs(const Graph& graph, Tensor x, int nodes) {
    Graph model = graph;
    for (int i = 0; i < nodes / 2; ++i) {
        x = sin(x) + 1.0;
        model.output("y" + std::to_string(i), x);
    }
}

/// Nested quadratic polynomials.
inline void polynomials(const Graph& graph, Tensor x, int nodes) {
    for (int i = 0; i < nodes / 5; ++i) x = x * x * 0.3 + x * 0.2 + 0.1;
    Graph(graph).output("y", x);
}

/// A chain of layer norms written in atomic ops.
inline void hand_norms(const Graph& graph, Tensor x, int nodes) {
    for (int i = 0; i < nodes / 11; ++i) {
        const Tensor d = x - mean(x, {-1}, true);
        x = d / sqrt(mean(d * d, {-1}, true) + 1e-5) * 1.5 + x;
    }
    Graph(graph).output("y", x);
}

/// A chain of tanh-approximated GELUs written in atomic ops.
inline void hand_gelus(const Graph& graph, Tensor x, int nodes) {
    for (int i = 0; i < nodes / 8; ++i) x = 0.5 * x * (1.0 + tanh(0.79788456 * (x + 0.044715 * pow(x, 3.0))));
    Graph(graph).output("y", x);
}

struct Family {
    std::string_view name;
    void (*build)(const Graph&, Tensor, int);
};

template <void (*build)(const Graph&, const Tensor&, int)>
void by_reference(const Graph& graph, Tensor x, int nodes) {
    build(graph, x, nodes);
}

inline constexpr std::array families{
    Family{"chain", chain},
    Family{"leaky", leaky},
    Family{"adds", adds},
    Family{"wide", by_reference<wide>},
    Family{"layered", layered},
    Family{"ode", by_reference<ode>},
    Family{"random", by_reference<random>},
    Family{"slices", by_reference<slices>},
    Family{"rows", rows},
    Family{"movement", movement},
    Family{"products", by_reference<products>},
    Family{"chained", chained},
    Family{"adapted", adapted},
    Family{"parts", parts},
    Family{"constants", constants},
    Family{"bound", by_reference<bound>},
    Family{"states", states},
    Family{"norms_add", by_reference<norms_add>},
    Family{"norms_exp", by_reference<norms_exp>},
    Family{"norms", by_reference<norms>},
    Family{"outputs", outputs},
    Family{"polynomials", polynomials},
    Family{"hand_norms", hand_norms},
    Family{"hand_gelus", hand_gelus},
};

inline Graph build(const Family& family, int nodes) {
    Graph graph{std::string(family.name)};
    family.build(graph, graph.input("x", DType::f32, {8, 16}), nodes);
    return graph;
}

}  // namespace cairn::bench
