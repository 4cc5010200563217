#include "apps/compare/run_compare.hpp"

int main(int argc, char** argv) { return cairn::compare::run_compare(argc, argv); }
