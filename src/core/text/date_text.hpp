// Dates and times of day as they are written.
#pragma once

#include <cstdint>
#include <string_view>

namespace committee {

// What comes first: 2024-12-31, 31.12.2024 or 12/31/2024; or a time of day alone, 23:59.
enum class DateOrder { kYear, kDay, kMonth, kClock };

// Whether a text is a date in an order; `out` gets microseconds since 1970, in UTC where the text
// names a zone. Months may be English names; a time may follow, with AM or PM and a zone.
bool read_date(std::string_view text, DateOrder order, std::int64_t& out);

}  // namespace committee
