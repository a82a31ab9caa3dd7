#include "damage.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace tandem::test {

namespace {

using Random = std::mt19937_64;

std::size_t below(std::size_t n, Random& random) {
  return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
}

void put(std::string& bytes, std::uint64_t value, std::size_t width, Random& random) {
  const std::size_t at = below(bytes.size(), random);
  std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
}

/// Exchanges two blocks of the same length, or copies one over the other.
void move_block(std::string& bytes, Random& random) {
  std::size_t a = below(bytes.size(), random), b = below(bytes.size(), random);
  if (a > b) std::swap(a, b);
  const std::size_t length =
      std::min({1 + below(64, random), bytes.size() - b, std::max<std::size_t>(b - a, 1)});
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(a),
             to = bytes.begin() + static_cast<std::ptrdiff_t>(b);
  if (random() % 2 == 0)
    std::swap_ranges(from, from + static_cast<std::ptrdiff_t>(length), to);
  else
    std::copy_n(from, length, to);
}

void damage_bytes(std::string& bytes, Random& random) {
  constexpr std::array<std::uint64_t, 10> edges{0,      1,          0x7f,       0xff,       0x7fff,
                                                0xffff, 0x7fffffff, 0xffffffff, 1ull << 40, ~0ull};
  const std::size_t way = below(8, random);
  if (way == 0) {
    bytes[below(bytes.size(), random)] ^= static_cast<char>(1 << below(8, random));
  } else if (way == 1) {
    put(bytes, random(), 1, random);
  } else if (way < 6) {
    put(bytes, edges[below(edges.size(), random)], std::size_t{1} << (way - 2), random);
  } else if (way == 6) {
    put(bytes, below(bytes.size(), random), 4, random);  // an offset that lies in the file
  } else {
    move_block(bytes, random);
  }
}

/// How much of the beginning is text.
std::size_t text_length(const std::string& bytes) {
  const auto end = std::find_if_not(bytes.begin(), bytes.end(), [](unsigned char c) {
    return std::isprint(c) != 0 || c == '\n' || c == '\r' || c == '\t';
  });
  return static_cast<std::size_t>(end - bytes.begin());
}

/// The beginnings and ends of pieces of the text: of its numbers, or of its lines.
std::vector<std::pair<std::size_t, std::size_t>> pieces(const std::string& bytes, bool lines) {
  const auto belongs = [lines](unsigned char c) {
    return lines ? c != '\n' : std::isdigit(c) != 0 || c == '.' || c == '-';
  };
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t at = 0, end = text_length(bytes); at < end; ++at) {
    const std::size_t first = at;
    while (at < end && belongs(static_cast<unsigned char>(bytes[at]))) ++at;
    if (at > first) all.emplace_back(first, at);
  }
  return all;
}

void damage_text(std::string& bytes, Random& random) {
  static const std::vector<std::string> numbers{"0",
                                                "-1",
                                                "1",
                                                "2",
                                                "1e308",
                                                "-1e308",
                                                "1e-320",
                                                "nan",
                                                "inf",
                                                "-inf",
                                                "65536",
                                                "2147483648",
                                                "4294967297",
                                                "9223372036854775807",
                                                "9223372036854775808",
                                                "-9223372036854775808",
                                                "1e18",
                                                "0x10",
                                                "1,5",
                                                "",
                                                ".",
                                                "1e",
                                                std::string(400, '9')};
  const bool lines = random() % 3 == 0;
  const auto all = pieces(bytes, lines);
  if (all.empty()) return damage_bytes(bytes, random);
  const auto [first, last] = all[below(all.size(), random)];
  const auto [from, to] = all[below(all.size(), random)];
  const std::string other = bytes.substr(from, to - from);
  if (lines)  // again, in the place of another, or left out
    bytes.replace(first, last - first,
                  random() % 3 == 0   ? ""
                  : random() % 2 == 0 ? other + '\n' + other
                                      : other);
  else
    bytes.replace(first, last - first, random() % 4 == 0 ? other : numbers[below(numbers.size(), random)]);
}

}  // namespace

std::string damaged(std::string bytes, Random& random) {
  const bool is_text = text_length(bytes) >= 64;
  if (random() % 16 == 0) bytes.resize(below(bytes.size(), random));
  for (std::uint64_t k = random() % 2 == 0 ? 1 : 2 + random() % 5; k > 0 && !bytes.empty(); --k)
    is_text&& random() % 4 != 0 ? damage_text(bytes, random) : damage_bytes(bytes, random);
  return bytes;
}

}  // namespace tandem::test
