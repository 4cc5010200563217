#pragma once

#include "cairn/ops.hpp"
#include "rewrite/normal_form/normal_forms.hpp"

namespace cairn::test {

using T = const Tensor&;

/// Two expressions of a value of x [N,3,4], y [N,3,4] and r [4], not simplified by any rule.
struct Pair {
    const char* text;
    Tensor (*a)(T x, T y, T r);
    Tensor (*b)(T x, T y, T r);
};

/// True if both values of a graph have the same form.
inline bool same_form(T a, T b, normal_form::Laws laws = normal_form::Laws::of_definitions()) {
    const normal_form::NormalForms forms(*a.graph(), laws);
    return forms.normalizer().same(forms[a.id()], forms[b.id()]);
}

inline bool same_form(const Pair& pair) {
    Graph g("g");
    const Dim n = g.symbol("N", 1, 8);
    const Tensor x = g.input("x", DType::f32, {n, 3, 4}), y = g.input("y", DType::f32, {n, 3, 4}),
                 r = g.input("r", DType::f32, {4});
    const Tensor a = pair.a(x, y, r), b = pair.b(x, y, r);
    return same_form(a, b);
}

}  // namespace cairn::test
