// Compiled with -mavx2 and none of the care of cairn_isa_sources: objects_test must find every fault in it.
#include <cstdlib>

int careless_count = std::atoi("7");

// A weak function of a COMDAT group, with vector code in it.
template <typename T>
[[gnu::noinline]] T careless_sum(const T* x, int n) {
    T sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return sum;
}

// A GNU-unique symbol: a static of an inline function.
inline int& careless_calls() {
    static int calls = 0;
    return calls;
}

extern "C" float careless_table(const float* x, int n) {
    ++careless_calls();
    return careless_sum(x, n + careless_count);
}
