#include "text/date_text.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace committee {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

// Takes parts of a text from its front.
class Taker {
 public:
  explicit Taker(std::string_view text) : text_(text) {}

  bool is_empty() const { return text_.empty(); }
  char front() const { return text_.empty() ? '\0' : text_.front(); }

  bool take(char c) {
    if (front() != c || text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }

  // A number of up to `most` digits; the number of digits, 0 if there is none or there are more.
  int number(int most, std::int64_t& out) {
    int n_digits = 0;
    out = 0;
    while (n_digits < most && is_digit(front())) {
      out = 10 * out + (text_.front() - '0');
      text_.remove_prefix(1);
      ++n_digits;
    }
    return is_digit(front()) ? 0 : n_digits;
  }

  std::string_view letters() {
    std::size_t size = 0;
    while (size < text_.size() && is_letter(text_[size])) ++size;
    const std::string_view word = text_.substr(0, size);
    text_.remove_prefix(size);
    return word;
  }

 private:
  std::string_view text_;
};

bool is_start_of(std::string_view text, std::string_view word) {
  if (text.size() > word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower(text[i]) != word[i]) return false;
  }
  return true;
}

// The month with such a name, or whose name begins so; 0 if there is none.
std::int64_t month_named(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {
      "january", "february", "march",     "april",   "may",      "june",
      "july",    "august",   "september", "october", "november", "december"};
  if (word.size() < 3) return 0;
  for (std::size_t month = 0; month < 12; ++month) {
    if (is_start_of(word, kMonths[month])) return static_cast<std::int64_t>(month) + 1;
  }
  return 0;
}

struct Field {
  std::int64_t value = 0;
  int n_digits = 0;  // 0 for the name of a month
};

bool take_field(Taker& text, Field& out) {
  if (is_letter(text.front())) {
    out = {.value = month_named(text.letters()), .n_digits = 0};
    return out.value != 0;
  }
  out.n_digits = text.number(4, out.value);
  return out.n_digits != 0;
}

// One of - / . or a space, which a comma may precede; 0 if there is none.
char take_separator(Taker& text) {
  for (const char c : {'-', '/', '.'}) {
    if (text.take(c)) return c;
  }
  text.take(',');
  return text.take(' ') ? ' ' : '\0';
}

bool is_leap(std::int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

std::int64_t days_in(std::int64_t year, std::int64_t month) {
  if (month == 2) return is_leap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Days since 1970-01-01; years begin in March, so that a leap day is the last day of one.
std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  if (month <= 2) --year;
  const std::int64_t era = year / 400;  // years are not negative
  const std::int64_t year_of_era = year - 400 * era;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return 146097 * era + day_of_era - 719468;
}

bool take_day(Taker& text, DateOrder order, std::int64_t& days) {
  std::array<Field, 3> fields;
  std::array<char, 2> separators{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!take_field(text, fields[i])) return false;
    if (i < 2 && (separators[i] = take_separator(text)) == '\0') return false;
  }
  if (separators[0] != separators[1]) return false;
  if (order == DateOrder::kYear) std::swap(fields[0], fields[2]);   // to day, month, year
  if (order == DateOrder::kMonth) std::swap(fields[0], fields[1]);  // likewise
  const auto& [day, month, year] = fields;
  if (day.n_digits < 1 || day.n_digits > 2 || month.n_digits > 2) return false;
  if (year.n_digits != 4) {  // "1.2.10" is the number of a version rather than a day
    const bool is_short = year.n_digits == 2 && order != DateOrder::kYear && separators[0] != '.';
    if (!is_short) return false;
  }
  if (separators[0] == ' ' && month.n_digits != 0) return false;  // three numbers
  const std::int64_t century = year.n_digits == 4 ? 0 : (year.value < 69 ? 2000 : 1900);
  const std::int64_t full_year = year.value + century;
  if (full_year < 1 || month.value < 1 || month.value > 12 || day.value < 1) return false;
  if (day.value > days_in(full_year, month.value)) return false;
  days = days_since_1970(full_year, month.value, day.value);
  return true;
}

bool take_fraction(Taker& text, std::int64_t& micros) {
  std::int64_t unit = kSecond / 10;
  bool has_digits = false;
  micros = 0;
  for (std::int64_t digit = 0; is_digit(text.front()); unit /= 10) {
    digit = text.front() - '0';
    text.take(text.front());
    micros += digit * unit;
    has_digits = true;
  }
  return has_digits;
}

// Hours and minutes, with seconds, their fraction, and AM or PM where they follow.
bool take_time(Taker& text, std::int64_t& micros) {
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  std::int64_t fraction = 0;
  if (text.number(2, hour) == 0 || !text.take(':') || text.number(2, minute) != 2) return false;
  if (text.take(':')) {
    if (text.number(2, second) != 2) return false;
    if ((text.take('.') || text.take(',')) && !take_fraction(text, fraction)) return false;
  }
  Taker after = text;
  after.take(' ');
  const std::string_view half = after.letters();
  const bool is_am = half.size() == 2 && is_start_of(half, "am");
  const bool is_pm = half.size() == 2 && is_start_of(half, "pm");
  if (is_am || is_pm) {
    if (hour < 1 || hour > 12) return false;
    hour = hour % 12 + (is_pm ? 12 : 0);
    text = after;
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  micros = ((hour * 60 + minute) * 60 + second) * kSecond + fraction;
  return true;
}

// Z, UTC, GMT, or the distance from UTC as +02:00, +0200 or +02; nothing is UTC too.
bool take_zone(Taker& text, std::int64_t& micros) {
  micros = 0;
  if (text.is_empty()) return true;
  text.take(' ');
  if (is_letter(text.front())) {
    const std::string_view name = text.letters();
    return is_start_of(name, "z") ||
           (name.size() == 3 && (is_start_of(name, "utc") || is_start_of(name, "gmt")));
  }
  const bool is_west = text.front() == '-';
  if (!text.take('-') && !text.take('+')) return false;
  std::int64_t hours = 0;
  std::int64_t minutes = 0;
  const int n_digits = text.number(4, hours);
  if (n_digits == 4) {
    minutes = hours % 100;
    hours /= 100;
  } else if (n_digits != 2 || (text.take(':') && text.number(2, minutes) != 2)) {
    return false;
  }
  if (hours > 15 || minutes > 59) return false;
  micros = (hours * 60 + minutes) * 60 * kSecond * (is_west ? -1 : 1);
  return true;
}

}  // namespace

bool read_date(std::string_view text, DateOrder order, std::int64_t& out) {
  Taker taker(text);
  std::int64_t days = 0;
  std::int64_t micros = 0;
  std::int64_t offset = 0;
  if (order == DateOrder::kClock) return take_time(taker, out) && taker.is_empty();
  if (!take_day(taker, order, days)) return false;
  if (!taker.is_empty()) {
    taker.take(',');
    if (!taker.take('T') && !taker.take(' ')) return false;
    if (!take_time(taker, micros) || !take_zone(taker, offset)) return false;
  }
  out = days * 86'400 * kSecond + micros - offset;
  return taker.is_empty();
}

}  // namespace committee
