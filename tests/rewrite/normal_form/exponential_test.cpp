#include "rewrite/normal_form/normalizer.hpp"

#include "tests/rewrite/normal_form/equal_pairs.hpp"

#include <gtest/gtest.h>

namespace cairn::test {
namespace {

Tensor top(T x) { return max_reduce(x, {-1}, true); }
Tensor total(T x) { return sum(x, {-1}, true); }
Tensor normal(T x) { return exp(x) / total(exp(x)); }

TEST(NormalizeExponential, EqualValuesHaveOneForm) {
    const Pair pairs[] = {
        {"products", [](T x, T y, T) { return exp(x) * exp(y); }, [](T x, T y, T) { return exp(x + y); }},
        {"quotients", [](T x, T y, T) { return exp(x) / exp(y); }, [](T x, T y, T) { return exp(x - y); }},
        {"powers", [](T x, T, T) { return pow(exp(x), 3); }, [](T x, T, T) { return exp(3 * x); }},
        {"a number in the exponent", [](T x, T, T) { return exp(x + 2); },
         [](T x, T, T) { return exp(x) * 7.38905609893065; }},
        {"logarithms of products", [](T x, T y, T) { return log(exp(x) * y); }, [](T x, T y, T) { return x + log(y); }},
        {"logarithms undone", [](T x, T, T) { return log(exp(x)); }, [](T x, T, T) { return x * 1; }},
        {"logarithms of inverses", [](T x, T, T) { return log(1 / x); }, [](T x, T, T) { return -log(x); }},
        {"exponentials undone", [](T x, T, T) { return exp(-log(total(exp(x)))); },
         [](T x, T, T) { return 1 / total(exp(x)); }},
        {"softmax without its maximum", [](T x, T, T) { return normal(x - top(x)); },
         [](T x, T, T) { return normal(x); }},
        {"softmax of a multiple", [](T x, T, T) { return normal(3 * x - top(3 * x)); },
         [](T x, T, T) { return normal(3 * x); }},
        {"softmax of a negative multiple", [](T x, T, T) { return normal(-3 * x - top(-3 * x)); },
         [](T x, T, T) { return normal(-3 * x); }},
        {"softmax of a sum", [](T x, T y, T r) { return normal(x * y + r - top(x * y + r)); },
         [](T x, T y, T r) { return normal(x * y + r); }},
        {"logarithm of softmax", [](T x, T, T) { return log(normal(x - top(x))); },
         [](T x, T, T) { return x - log(total(exp(x))); }},
        {"1 - tanh", [](T x, T, T) { return 3 - 3 * tanh(x); }, [](T x, T, T) { return 6 / (1 + exp(2 * x)); }},
        {"sigmoid by tanh", [](T x, T, T) { return 0.5 * (1 + tanh(x / 2)); },
         [](T x, T, T) { return 1 / (1 + exp(-x)); }},
        {"sigmoid of a difference by tanh", [](T x, T y, T) { return 0.5 * tanh((y - x) / 2) + 0.5; },
         [](T x, T y, T) { return 1 / (1 + exp(x - y)); }},
        {"rising exponents", [](T x, T, T) { return exp(x) / (1 + exp(x)); },
         [](T x, T, T) { return 1 / (1 + exp(-x)); }},
        {"what is left to 1", [](T x, T, T) { return 1 - 1 / (1 + exp(x)); },
         [](T x, T, T) { return 1 / (1 + exp(-x)); }},
        {"odd", [](T x, T y, T) { return tanh(x - y); }, [](T x, T y, T) { return -tanh(y - x); }},
    };
    for (const Pair& pair : pairs) EXPECT_TRUE(same_form(pair)) << pair.text;
}

TEST(NormalizeExponential, DifferentValuesHaveDifferentForms) {
    const Pair pairs[] = {
        {"roots of logarithms", [](T x, T, T) { return exp(log(x)); }, [](T x, T, T) { return x * 1; }},
        {"even powers", [](T x, T, T) { return log(x * x); }, [](T x, T, T) { return 2 * log(x); }},
        {"another shift", [](T x, T y, T) { return normal(x - top(y)); }, [](T x, T, T) { return normal(x); }},
        {"a shift by the other axis", [](T x, T, T) { return normal(x - max_reduce(x, {-2}, true)); },
         [](T x, T, T) { return normal(x); }},
        {"a shift of the sum alone", [](T x, T, T) { return exp(x) / total(exp(x - top(x))); },
         [](T x, T, T) { return normal(x); }},
        {"x - x", [](T x, T, T) { return x - x; }, [](T x, T, T) { return 0 * x; }},
        {"the largest element cancelled elsewhere", [](T x, T y, T) { return exp(y + top(x)) * exp(-top(x)); },
         [](T, T y, T) { return exp(y); }},
        {"no rest to 1", [](T x, T, T) { return 2 - 1 / (1 + exp(x)); }, [](T x, T, T) { return 1 / (1 + exp(-x)); }},
        {"the other sign", [](T x, T, T) { return 1 / (1 + exp(x)); }, [](T x, T, T) { return 1 / (1 + exp(-x)); }},
    };
    for (const Pair& pair : pairs) EXPECT_FALSE(same_form(pair)) << pair.text;
}

}  // namespace
}  // namespace cairn::test
