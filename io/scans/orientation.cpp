#include "orientation.hpp"

#include <array>
#include <utility>

namespace tandem::io {

std::optional<Orientation> orientation_of(std::string_view words) {
  Orientation all;
  while (true) {
    const std::string_view word = words.substr(0, words.find(','));
    if (word == "transpose") {
      all.transpose = !all.transpose;
      std::swap(all.flip_rows, all.flip_columns);
    } else if (word == "flip-rows") {
      all.flip_rows = !all.flip_rows;
    } else if (word == "flip-columns") {
      all.flip_columns = !all.flip_columns;
    } else {
      return std::nullopt;
    }
    if (word.size() == words.size()) return all;
    words.remove_prefix(word.size() + 1);
  }
}

std::string_view words_of_tag(int orientation) {
  constexpr std::array<std::string_view, 9> words{"",
                                                  "",
                                                  "flip-columns",
                                                  "flip-rows,flip-columns",
                                                  "flip-rows",
                                                  "transpose",
                                                  "transpose,flip-columns",
                                                  "transpose,flip-rows,flip-columns",
                                                  "transpose,flip-rows"};
  return orientation >= 0 && orientation < 9 ? words[orientation] : "";
}

}  // namespace tandem::io
