#include "text/number_text.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace committee {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The bytes of the mark of thousands at the beginning of a text; 0 if there is none.
std::size_t thousands_mark(std::string_view text, char thousands) {
  if (thousands == 0 || text.empty()) return 0;
  if (text.front() == thousands) return 1;
  if (thousands != ' ') return 0;
  if (text.starts_with("\xc2\xa0")) return 2;                                           // U+00A0
  return text.starts_with("\xe2\x80\xaf") || text.starts_with("\xe2\x80\x89") ? 3 : 0;  // thin
}

// Writes a number with a decimal point and without marks of thousands; false if the marks do not
// stand before groups of three digits, or another mark occurs.
bool to_plain(std::string_view text, NumberFormat format, std::string& plain) {
  plain.clear();
  std::size_t group = 0;  // digits since the last mark
  bool has_marks = false;
  bool is_fraction = false;
  while (!text.empty()) {
    if (const std::size_t size = thousands_mark(text, format.thousands); size != 0) {
      if (is_fraction || group == 0 || group > 3 || (has_marks && group != 3)) return false;
      has_marks = true;
      group = 0;
      text.remove_prefix(size);
      continue;
    }
    const char c = text.front();
    text.remove_prefix(1);
    if (is_digit(c)) {
      ++group;
      plain.push_back(c);
      continue;
    }
    if (c == '.' && format.decimal != '.') return false;
    if (!is_fraction) {
      if (has_marks && group != 3) return false;
      is_fraction = c == format.decimal || c == 'e' || c == 'E';
    }
    plain.push_back(c == format.decimal ? '.' : c);
  }
  return is_fraction || !has_marks || group == 3;
}

std::string_view as_plain(std::string_view text, NumberFormat format, std::string& scratch) {
  if (format.decimal == '.' && format.thousands == 0) return text;
  return to_plain(text, format, scratch) ? std::string_view(scratch) : std::string_view();
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equals_word(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != word[i]) return false;
  }
  return true;
}

// Digits, a point and an exponent, without a sign.
struct Digits {
  std::uint64_t mantissa = 0;
  int n_kept = 0;     // digits in the mantissa
  int n_dropped = 0;  // digits that did not fit into it
  int n_whole = 0;    // digits before the point
  std::int64_t exponent = 0;
  bool has_point = false;
  bool has_exponent = false;
  bool is_valid = false;
};

Digits scan(std::string_view text) {
  Digits found;
  std::size_t place = 0;
  int n_digits = 0;
  for (; place < text.size(); ++place) {
    const char c = text[place];
    if (is_digit(c)) {
      ++n_digits;
      if (!found.has_point) ++found.n_whole;
      if (found.mantissa == 0 && c == '0') {  // a leading zero
        if (found.has_point) --found.exponent;
      } else if (found.n_kept < 18) {
        found.mantissa = 10 * found.mantissa + static_cast<std::uint64_t>(c - '0');
        ++found.n_kept;
        if (found.has_point) --found.exponent;
      } else {
        ++found.n_dropped;
        if (!found.has_point) ++found.exponent;
      }
    } else if (c == '.' && !found.has_point) {
      found.has_point = true;
    } else {
      break;
    }
  }
  if (n_digits == 0) return found;
  if (place < text.size() && (text[place] == 'e' || text[place] == 'E')) {
    found.has_exponent = true;
    ++place;
    bool is_negative = false;
    if (place < text.size() && (text[place] == '+' || text[place] == '-')) {
      is_negative = text[place] == '-';
      ++place;
    }
    if (place == text.size()) return found;
    std::int64_t exponent = 0;
    for (; place < text.size() && is_digit(text[place]); ++place) {
      if (exponent < 1'000'000'000) exponent = 10 * exponent + (text[place] - '0');
    }
    found.exponent += is_negative ? -exponent : exponent;
  }
  found.is_valid = place == text.size();
  return found;
}

constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The nearest double. Up to 2^53 and 10^22 both numbers are exact, so that one operation rounds
// correctly (Clinger 1990); nearly all cells of nearly all tables are of this kind.
double nearest(std::string_view text, const Digits& digits) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  if (digits.n_dropped == 0 && digits.mantissa <= kExact) {
    const auto mantissa = static_cast<double>(digits.mantissa);
    if (digits.exponent >= 0 && digits.exponent <= 22) {
      return mantissa * kPowers[static_cast<std::size_t>(digits.exponent)];
    }
    if (digits.exponent < 0 && digits.exponent >= -22) {
      return mantissa / kPowers[static_cast<std::size_t>(-digits.exponent)];
    }
  }
  if (digits.mantissa == 0) return 0.0;
  double value = 0.0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    return digits.exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  return value;
}

}  // namespace

bool read_number(std::string_view text, NumberFormat format, std::string& scratch,
                 WrittenNumber& out) {
  if (text.empty()) return false;
  const bool has_sign = text.front() == '-' || text.front() == '+';
  const bool is_negative = text.front() == '-';
  if (has_sign) text.remove_prefix(1);
  if (text.empty()) return false;
  if (!is_digit(text.front()) && text.front() != format.decimal) {
    if (!equals_word(text, "inf") && !equals_word(text, "infinity")) return false;
    const double infinity = std::numeric_limits<double>::infinity();
    out = {.value = is_negative ? -infinity : infinity};
    return true;
  }
  const std::string_view plain = as_plain(text, format, scratch);
  const Digits digits = scan(plain);
  if (!digits.is_valid) return false;
  const double value = nearest(plain, digits);
  out.value = is_negative ? -value : value;
  out.is_whole = !digits.has_point && !digits.has_exponent;
  out.has_leading_zero = out.is_whole && digits.n_whole > 1 && plain.front() == '0';
  out.has_decimal_mark = digits.has_point;
  return true;
}

bool read_integer(std::string_view text, NumberFormat format, std::string& scratch,
                  std::int64_t& out) {
  const bool is_negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const std::string_view plain = as_plain(text, format, scratch);
  if (plain.empty() || !is_digit(plain.front())) return false;
  std::uint64_t size = 0;
  const auto result = std::from_chars(plain.data(), plain.data() + plain.size(), size);
  if (result.ec != std::errc() || result.ptr != plain.data() + plain.size()) return false;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  if (size > kMost || (size == kMost && !is_negative)) return false;
  out = static_cast<std::int64_t>(is_negative ? ~size + 1 : size);
  return true;
}

}  // namespace committee
