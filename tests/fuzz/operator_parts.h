// What generators share: operators.cpp defines all but `composite`.
#pragma once

#include "operators.h"

namespace korch::fuzz {

using Grown = std::optional<ValueId>;

// Any Value, of whatever type and rank.
ValueId anything(GraphMaker& m, int least_rank = 0, int most_rank = 5);
// A shape that broadcasts with this one: ones where there was more, fewer axes, or more.
Shape partner(GraphMaker& m, Shape shape);
Grown unary(GraphMaker& m, Op op);
Grown reduce(GraphMaker& m, Op op);
Grown window(GraphMaker& m, Op op);
Grown composite(GraphMaker& m, Op op);

}  // namespace korch::fuzz
