// setting native 2 standard 78002100
// plans random:0
// constant 27a62fff81e9c554891a917234339262 f32[3x9x6x6] random 0 0
graph {
  input %x0 : f32[1x9x4x4] "x0"
  input %x1 : f32[3x1] "x1"
  input %x2 : f32[3x1] "x2"
  input %x3 : f32[3x1] "x3"
  input %x4 : bool[] "x4"
  %v5 = Constant() {hash="27a62fff81e9c554891a917234339262"} : f32[3x9x6x6]
  %v6 = Constant() {value=[0.9368867,1.011136,-0.9148681]} : f32[3]
  %v7 = Conv(%x0, %v5, %v6) {strides=[1,1], dilations=[1,1], pads_before=[3,3], pads_after=[3,3], output_padding=[0,0]} : f32[1x3x5x5]
  %v8 = ReduceSum(%v7) {axes=[3]} : f32[1x3x5x1]
  %v9 = Constant() {value=[0]} : i64[]
  %v10 = Constant() {value=[1]} : bool[]
  %v11 = Constant() {value=[-0.73401654,-0.7226957,2.6628778]} : f32[1x3x1]
  %v12 = Constant() {value=[-0.73401654,-0.7226957,2.6628778]} : f32[1x3x1]
  %v13, %v14, %v15, %v16, %v17, %v18 = LoopBegin(%v9, %v10, %x1, %x1, %v11, %v12) {carried=2} : i64[], bool[], f32[3x1], f32[3x1], f32[1x3x1], f32[1x3x1]
  %v19, %v20, %v21, %v22, %v23, %v24 = LoopEnd(%v13, %v9, %x4, %x3, %x2, %v17, %v18, %x3, %x2) {carried=2} : i64[], bool[], f32[3x1], f32[3x1], f32[1x3x1], f32[1x3x1]
  output %v8 "y0"
  output %v21 "y1"
}
