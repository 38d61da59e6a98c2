/*
 * report.hpp - what the programs of tests/cxx/ say: `ok SUBJECT` where all was right since the last
 * one.
 */
#ifndef TESTS_CXX_REPORT_HPP
#define TESTS_CXX_REPORT_HPP

#include <covey.hpp>

#include <cstdio>
#include <string>

constexpr std::int64_t soon = 30000000;
inline int wrong, wrong_in_all;

inline bool check(bool right, const std::string &what)
{
    if (right)
        return true;
    wrong++, wrong_in_all++;
    std::printf("not ok %s: %s\n", what.c_str(), covey::error_text());
    std::fflush(stdout);
    return false;
}

/* What the call gave, which must not have failed. */
template <class T> T good(covey::result<T> given, const std::string &what)
{
    if (!given)
        check(false, what + " gives " + std::to_string(given.code()));
    return std::move(*given);
}

template <class T> void fails(const covey::result<T> &given, int code, const std::string &what)
{
    check(given.code() == code && !given.text().empty(),
          what + " gives " + std::to_string(given.code()));
}

inline void subject(const char *name)
{
    if (wrong == 0)
        std::printf("ok %s\n", name);
    std::fflush(stdout);
    wrong = 0;
}

#endif
