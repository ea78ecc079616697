// Functions of generated kernels that rank elements.
#pragma once

namespace korch::tile {

// place(i) becomes the i-th best of the elements 0 .. n - 1, of equals the first: a heap whose root is the
// worst of the k, sorted in the end. NaN is larger than every number.
inline constexpr const char* kSelectBest =
    R"(template <class T> static inline bool is_larger(T a, T b) { return !(a <= b) && (a > b || (a != a && b == b)); }
template <class Place, class Before> static inline void sift_down(int64_t at, int64_t size, Place place, Before before) {
  const int64_t moved = place(at);
  for (int64_t child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && before(place(child), place(child + 1))) ++child;
    if (!before(moved, place(child))) break;
    place(at) = place(child);
  }
  place(at) = moved;
}
template <class Place, class Element, class Better>
static inline void select_best(int64_t n, int64_t k, Place place, Element element, Better better) {
  const auto before = [&](int64_t a, int64_t b) {
    const auto x = element(a), y = element(b);
    return better(x, y) || (a < b && !better(y, x));
  };
  for (int64_t i = 0; i < k; ++i) place(i) = i;
  for (int64_t i = k / 2; i-- > 0;) sift_down(i, k, place, before);
  auto worst = element(place(0));
  for (int64_t i = k; i < n; ++i) {
    if (!better(element(i), worst)) continue;
    place(0) = i;
    sift_down(0, k, place, before);
    worst = element(place(0));
  }
  for (int64_t i = k - 1; i > 0; --i) {
    const int64_t last = place(0);
    place(0) = place(i);
    place(i) = last;
    sift_down(0, i, place, before);
  }
}
)";

// place(i) becomes the i-th largest of the elements 0 .. n - 1 above -inf that none of those before excludes,
// of equals the first; -1 where none is left. left(0), left(1), ...: working memory, those that are,
// ascending.
inline constexpr const char* kSuppress = R"(template <class Place, class Left, class Element, class Excluded>
static inline void suppress(int64_t n, int64_t k, Place place, Left left, Element element, Excluded excluded) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i)
    if (element(i) > -__builtin_inff()) left(count++) = i;
  int64_t found = 0;
  for (; found < k && count > 0; ++found) {
    int64_t best = left(0);
    for (int64_t i = 1; i < count; ++i)
      if (element(left(i)) > element(best)) best = left(i);
    place(found) = best;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t other = left(i);
      if (other != best && !excluded(other, best)) left(kept++) = other;
    }
    count = kept;
  }
  for (; found < k; ++found) place(found) = -1;
}
)";

}  // namespace korch::tile
