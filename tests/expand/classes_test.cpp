#include "row_cases.hpp"

#include <gtest/gtest.h>
