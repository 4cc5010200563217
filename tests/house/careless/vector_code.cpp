// Compiled with -mavx2 but without the steps of cairn_isa_sources, so that objects_test must find every fault in it.
#include <cstdlib>

int careless_count = std::atoi("7");

// A weak function in a COMDAT group, with vector code.
template <typename T>
[[gnu::noinline]] T careless_sum(const T* x, int n) {
    T sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return sum;
}

// A GNU-unique symbol: the static variable of an inline function.
inline int& careless_calls() {
    static int calls = 0;
    return calls;
}

extern "C" float careless_table(const float* x, int n) {
    ++careless_calls();
    return careless_sum(x, n + careless_count);
}
