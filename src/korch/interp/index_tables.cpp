#include "korch/interp/index_tables.h"

#include <cstring>

namespace korch {
namespace {

// Copies elements as unsigned words of their size.
template <typename Word>
class Reader {
 public:
  Reader(const Word* source, const IndexTables& tables, Word fill, Word* out, StopCheck& stop)
      : source_(source), tables_(tables), fill_(fill), out_(out), stop_(stop) {
    inner_is_dense_ = !tables.empty() && !tables.back().empty();
    if (!inner_is_dense_) return;
    const std::vector<int64_t>& inner = tables.back();
    for (size_t i = 0; i < inner.size(); ++i)
      inner_is_dense_ = inner_is_dense_ && inner[i] == inner[0] + static_cast<int64_t>(i);
    inner_is_dense_ = inner_is_dense_ && inner[0] != kOutside;
  }

  void copy(size_t axis, int64_t offset) {
    if (axis == tables_.size()) {
      *out_++ = source_[offset];
    } else if (axis + 1 == tables_.size()) {
      copy_inner(offset);
    } else {
      for (int64_t step : tables_[axis]) {
        if (step == kOutside)
          fill(axis + 1);
        else
          copy(axis + 1, offset + step);
      }
    }
  }

 private:
  void copy_inner(int64_t offset) {
    const std::vector<int64_t>& inner = tables_.back();
    stop_.after(static_cast<int64_t>(inner.size()));
    if (inner_is_dense_) {
      std::memcpy(out_, source_ + offset + inner[0], inner.size() * sizeof(Word));
      out_ += inner.size();
      return;
    }
    for (int64_t step : inner) *out_++ = step == kOutside ? fill_ : source_[offset + step];
  }

  void fill(size_t axis) {
    int64_t count = 1;
    for (; axis < tables_.size(); ++axis) count *= static_cast<int64_t>(tables_[axis].size());
    stop_.after(count);
    for (int64_t i = 0; i < count; ++i) *out_++ = fill_;
  }

  const Word* source_;
  const IndexTables& tables_;
  Word fill_;
  Word* out_;
  StopCheck& stop_;
  bool inner_is_dense_;
};

template <typename Word>
void read_words(const HostTensor& source, const IndexTables& tables, const HostTensor& fill, HostTensor& out,
                StopCheck& stop) {
  Reader<Word>(source.data<Word>(), tables, *fill.data<Word>(), out.mutable_data<Word>(), stop).copy(0, 0);
}

// Short rows are read several at a time: the tables of the last axes as one.
IndexTables with_long_rows(IndexTables tables) {
  constexpr size_t kLongRow = 64, kLargestTable = 1 << 16;
  while (tables.size() > 1 && tables.back().size() < kLongRow) {
    const std::vector<int64_t> inner = std::move(tables.back()), outer = tables[tables.size() - 2];
    if (outer.size() * inner.size() > kLargestTable) {
      tables.back() = inner;
      break;
    }
    tables.pop_back();
    tables.back().clear();
    for (int64_t rows : outer)
      for (int64_t step : inner)
        tables.back().push_back(rows == kOutside || step == kOutside ? kOutside : rows + step);
  }
  return tables;
}

}  // namespace

std::vector<int64_t> index_table(int64_t count, int64_t start, int64_t step, int64_t stride) {
  std::vector<int64_t> table(count);
  for (int64_t i = 0; i < count; ++i) table[i] = (start + i * step) * stride;
  return table;
}

HostTensor read_through(const HostTensor& source, const IndexTables& per_axis, const HostTensor& fill,
                        StopCheck& stop) {
  Shape shape;
  for (const std::vector<int64_t>& table : per_axis) shape.push_back(static_cast<int64_t>(table.size()));
  HostTensor out(TensorType{source.dtype(), shape});
  if (out.elements() == 0) return out;
  const IndexTables tables = with_long_rows(per_axis);
  const size_t bytes = size_bytes(source.dtype());
  if (bytes == 1) read_words<uint8_t>(source, tables, fill, out, stop);
  if (bytes == 2) read_words<uint16_t>(source, tables, fill, out, stop);
  if (bytes == 4) read_words<uint32_t>(source, tables, fill, out, stop);
  if (bytes == 8) read_words<uint64_t>(source, tables, fill, out, stop);
  return out;
}

HostTensor read_through(const HostTensor& source, const IndexTables& tables, StopCheck& stop) {
  return read_through(source, tables, HostTensor(TensorType{source.dtype(), {}}), stop);
}

}  // namespace korch
