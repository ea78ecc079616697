// The content of a section that is made row by row.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "korch/package/data_object.h"
#include "korch/plan/ref.h"

namespace korch {

// Where rows stand in a blob: bytes from its beginning.
struct Rows {
  uint64_t at = 0;
  size_t count = 0;
};

// Rows are zeros, padding included, until their fields are filled in, so that equal content is equal bytes.
// Adding rows may move all rows: references stay right, addresses do not.
class Blob {
 public:
  template <typename Row>
  Rows add(size_t count = 1) {
    static_assert(alignof(Row) <= sizeof(uint64_t));
    const uint64_t at = words_.size() * sizeof(uint64_t);
    words_.resize(words_.size() + (count * sizeof(Row) + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    return {at, count};
  }
  // For rows without padding and references.
  template <typename Row>
  Rows put(const std::vector<Row>& content) {
    static_assert(std::is_trivially_copyable_v<Row>);
    const Rows rows = add<Row>(content.size());
    std::copy(content.begin(), content.end(), at<Row>(rows));
    return rows;
  }
  Rows put_text(const std::string& text) {
    return put(std::vector<char>(text.c_str(), text.c_str() + text.size() + 1));
  }

  // Valid until more rows are added.
  template <typename Row>
  Row* at(const Rows& rows, size_t row = 0) {
    return reinterpret_cast<Row*>(reinterpret_cast<char*>(words_.data()) + rows.at) + row;
  }

  // To the first of the rows; null where there are none.
  template <typename Row>
  void refer(rt::Ref<Row>& ref, const Rows& rows) {
    ref = rows.count == 0 ? nullptr : at<Row>(rows);
  }
  template <typename Row, typename Count>
  void refer(rt::Ref<Row>& ref, Count& count, const Rows& rows) {
    refer(ref, rows);
    count = static_cast<Count>(rows.count);
  }

  // The linker fills in where the symbol is.
  template <typename T>
  void link(const rt::Ref<T>& ref, const std::string& symbol) {
    links_.push_back({DataLink::distance, place_of(&ref), symbol});
  }
  template <typename T>
  void link(T* const& address, const std::string& symbol, uint64_t addend) {
    links_.push_back({DataLink::address, place_of(&address), symbol, addend});
  }

  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(uint64_t)};
  }
  const std::vector<DataLink>& links() const { return links_; }

 private:
  uint64_t place_of(const void* field) const {
    return static_cast<uint64_t>(static_cast<const char*>(field) -
                                 reinterpret_cast<const char*>(words_.data()));
  }

  std::vector<uint64_t> words_;
  std::vector<DataLink> links_;
};

}  // namespace korch
