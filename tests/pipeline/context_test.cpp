#include "cairn/context.hpp"

#include "cairn/error.hpp"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Context, ThreadCountsThatCannotBe) {
    for (const int threads : {0, -1, 4097, 100000}) {
        ContextOptions options;
        options.threads = threads;
        try {
            const Context context(options);
            ADD_FAILURE() << threads << " threads";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::argument);
            EXPECT_NE(std::string(error.what()).find("got " + std::to_string(threads)), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace cairn
