// Numbers as they are written: decimal marks, marks of thousands, exponents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace committee {

// How numbers are written. `thousands` is 0 for none; ' ' stands for no-break spaces too.
struct NumberFormat {
  char decimal = '.';
  char thousands = 0;
};

// A number and what is to be known about how it was written.
struct WrittenNumber {
  double value = 0.0;
  bool is_whole = false;          // digits only, with or without a sign
  bool has_leading_zero = false;  // as in postal codes
  bool has_decimal_mark = false;
};

// Whether a text is a number. Text around it is none, "inf" is one, "nan" is none.
bool read_number(std::string_view text, NumberFormat format, std::string& scratch,
                 WrittenNumber& out);

// Whether a text is a whole number of 64 bits.
bool read_integer(std::string_view text, NumberFormat format, std::string& scratch,
                  std::int64_t& out);

}  // namespace committee
