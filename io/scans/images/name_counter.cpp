#include "name_counter.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "../../files/natural_order.hpp"

namespace tandem::io {

namespace {

using Tokens = std::vector<std::string>;  // text, digits, text, ...

constexpr std::size_t most_digits = 18;  // the longest number that Index holds

/// Whether the text before digits ends in a sign: "_-" and "tilt-", but not the "-" of "2024-01".
bool has_sign(const Tokens& name, std::size_t token) {
  const std::string& text = name[token - 1];
  const bool sign = !text.empty() && (text.back() == '-' || text.back() == '+');
  return sign && (text.size() > 1 || token == 1);
}

bool is_negative(const Tokens& name, std::size_t token) {
  return has_sign(name, token) && name[token - 1].back() == '-';
}

/// Whether a decimal begins at this token: digits, a point and digits, without further points beside them.
bool begins_decimal(const Tokens& name, std::size_t token) {
  const auto is_point = [&](std::size_t k) { return k > 0 && k + 1 < name.size() && name[k] == "."; };
  return is_point(token + 1) && !is_point(token - 1) && !is_point(token + 3);
}

/// The most digits that the decimals have behind the point.
std::size_t places_of(const std::vector<Tokens>& names, std::size_t token) {
  std::size_t places = 0;
  for (const Tokens& name : names) places = std::max(places, name[token + 2].size());
  return places;
}

/// The numbers at a token, or the decimals that begin there, with `places` digits behind the point. Empty if
/// one of them is too long.
std::vector<Index> values_at(const std::vector<Tokens>& names, std::size_t token, std::size_t places) {
  const auto below_zero = [&](const Tokens& name) { return is_negative(name, token); };
  const bool is_signed = !std::all_of(names.begin(), names.end(), below_zero);  // else "-" separates words
  std::vector<Index> values;
  for (const Tokens& name : names) {
    std::string digits = name[token];
    if (places > 0) digits += name[token + 2] + std::string(places - name[token + 2].size(), '0');
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    if (digits.size() > most_digits) return {};
    values.push_back((is_signed && is_negative(name, token) ? -1 : 1) * std::stoll(digits));
  }
  return values;
}

/// The step of at least half of the numbers; 0 if there is none.
Index usual_step(const std::vector<Index>& sorted) {
  std::map<Index, std::size_t> steps;
  for (std::size_t i = 1; i < sorted.size(); ++i) ++steps[sorted[i] - sorted[i - 1]];
  const auto most = std::max_element(steps.begin(), steps.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != steps.end() && 2 * most->second >= sorted.size() - 1 ? most->first : 0;
}

void judge(NameNumber& number) {
  std::vector<Index> sorted = number.values;
  std::sort(sorted.begin(), sorted.end());
  number.apart = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  number.step = usual_step(sorted);
  if (!number.apart || number.step == 0) return;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if ((sorted[i] - sorted[i - 1]) % number.step != 0) number.missing = -1;
  if (number.missing == 0)
    number.missing = (sorted.back() - sorted.front()) / number.step + 1 - sorted.size();
}

/// The numbers that change. A decimal is there as a whole, and with the numbers on both sides of its point.
std::vector<NameNumber> numbers_in(const std::vector<Tokens>& names) {
  const Tokens& first = names.front();
  std::vector<NameNumber> all;
  for (std::size_t token = 1; token < first.size(); token += 2) {
    const bool decimal = begins_decimal(first, token),
               fraction = token > 2 && begins_decimal(first, token - 2);
    for (const bool joined : {false, true}) {
      if (joined && !decimal) continue;
      const std::size_t places = joined ? places_of(names, token) : 0;
      NameNumber number{values_at(names, token, places), token, joined, places, !decimal && !fraction};
      const std::vector<Index>& values = number.values;
      if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) continue;
      const auto starts_so = [&](char c) { return [=](const Tokens& name) { return name[token][0] == c; }; };
      const auto same_length = [&](const Tokens& name) { return name[token].size() == first[token].size(); };
      number.padded = first[token].size() > 1 && std::any_of(names.begin(), names.end(), starts_so('0')) &&
                      std::all_of(names.begin(), names.end(), same_length);
      judge(number);
      all.push_back(std::move(number));
    }
  }
  return all;
}

/// The merit of a number that counts: the better number has the greater one.
auto merit(const NameNumber& number) {
  return std::tuple(-number.missing, number.by_one(), number.padded, number.token);
}

/// Whether two numbers sort the names in the same order.
bool same_order(const NameNumber& a, const NameNumber& b) {
  std::vector<std::size_t> order(a.values.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return a.values[i] < a.values[j]; });
  return std::is_sorted(order.begin(), order.end(),
                        [&](std::size_t i, std::size_t j) { return b.values[i] < b.values[j]; });
}

/// The only number that changes, if there is one: digits, or a decimal that changes on both sides of its
/// point.
std::optional<NameNumber> lone_number(const std::vector<NameNumber>& all) {
  if (all.size() == 1) return all.front();
  const auto decimal = std::find_if(all.begin(), all.end(), [](const NameNumber& n) { return n.joined; });
  const auto outside = [&](const NameNumber& n) {
    return n.token != decimal->token && n.token != decimal->token + 2;
  };
  if (decimal == all.end() || std::any_of(all.begin(), all.end(), outside)) return std::nullopt;
  if (all.size() > 2) return *decimal;
  return all.front().joined ? all.back() : all.front();
}

}  // namespace

std::string name_form(const std::string& name) {
  Tokens tokens = name_tokens(name);
  for (std::size_t k = 1; k < tokens.size(); k += 2) {
    std::string& text = tokens[k - 1];
    if (has_sign(tokens, k)) {
      text.pop_back();
      if (!text.empty() && std::isalpha(static_cast<unsigned char>(text.back()))) text += '-';
    }
    tokens[k].assign(1, '#');
  }
  std::string form;
  for (const std::string& token : tokens) form += token;
  return form;
}

NameCounter counter_of(const std::vector<std::string>& names) {
  const auto other_form = [&](const std::string& name) {
    return name_form(name) != name_form(names.front());
  };
  if (names.empty() || std::any_of(names.begin(), names.end(), other_form)) return {};
  std::vector<Tokens> tokens;
  for (const std::string& name : names) tokens.push_back(name_tokens(name));
  const std::vector<NameNumber> all = numbers_in(tokens);
  if (all.empty()) return {};
  NameCounter found;
  for (const NameNumber& number : all)
    if (number.counts() && (!found.number || merit(number) > merit(*found.number))) found.number = number;
  if (!found.number) found.number = lone_number(all);
  if (!found.number) return {};
  const NameNumber& best = *found.number;
  for (const NameNumber& number : all) {
    if (number.token != best.token) found.others = true;
    found.doubtful |= number.counts() && number.missing == best.missing && number.by_one() == best.by_one() &&
                      !same_order(number, best);
  }
  return found;
}

}  // namespace tandem::io
