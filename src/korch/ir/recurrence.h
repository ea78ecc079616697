// Recurrence: one direction of an LSTM, GRU or plain RNN (ONNX's operators of these names), step after step.
//
//   operands  gates [T, B, G*H]: at every step the data times the input weights, biases added; G gates of H
//                     elements: lstm i o f c, gru z r h, rnn one
//             weights [G, H, H]: of gate g's element j for element k of the step before
//             state   [S, B, H]: before the first step; S = 2 for lstm (h, c), else 1
//             bias    [H]: gru with linear_before_reset: added to the product before the reset gate scales it
//             peepholes [3, H]: lstm: of the cell's state for i, o, f
//             mask [T, B]: bool; where it is false results are 0 and the state stays
//   results   steps [T, B, H]: every step's h;  state [S, B, H] after the last one
#pragma once

#include <vector>

#include "korch/ir/op.h"

namespace korch {

struct RecurrenceOperands {
  int64_t gates = 1, states = 1;             // G and S
  int bias = -1, peepholes = -1, mask = -1;  // numbers of the operands, where they are
  int count = 3;
  bool resets_operand = false;  // gru whose reset gate scales the operand of its last product
};
// Empty where `cell` is none.
std::optional<RecurrenceOperands> recurrence_operands(const RecurrenceAttrs& attrs);

struct Activation {
  Op op;
  ScalarAttrs scalars;
};
// f (, g (, h)); empty where a name is no elementwise operator of one operand, or their number is not that of
// the cell.
std::vector<Activation> activations_of(const RecurrenceAttrs& attrs);

}  // namespace korch
