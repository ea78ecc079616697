// Functions of LightGBM's C interface that learn nothing: the model is what LightGBM 4.7 writes of a small
// one. Data whose first label is 13 are refused.
#include <cstdint>
#include <cstring>

namespace {

const char kModel[] =
    "tree\nversion=v4\nnum_class=1\nmax_feature_idx=1\nobjective=regression_l1\ntree_sizes=300 300\n\n"
    "Tree=0\nnum_leaves=3\nnum_cat=0\nsplit_feature=1 0\nsplit_gain=10 2\nthreshold=0.50000000000000011 "
    "-1.25\n"
    "decision_type=2 2\nleft_child=1 -2\nright_child=-1 -3\nleaf_value=1.5 0.25 -0.75\nleaf_weight=4 4 "
    "4\nshrinkage=1\n\n\n"
    "Tree=1\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nthreshold=\nleft_child=\nright_child=\nleaf_value=0."
    "125\nshrinkage=1\n\n\n"
    "end of trees\n\nfeature_importances:\na=1\n";
float label = 0;
int the_handle = 0;

}  // namespace

extern "C" {
int LGBM_DatasetCreateFromMat(const void*, int, int32_t, int32_t, int, const char*, void*, void** out) {
  *out = &the_handle;
  return 0;
}
int LGBM_DatasetSetField(void*, const char* name, const void* data, int, int) {
  if (std::strcmp(name, "label") == 0) label = *static_cast<const float*>(data);
  return 0;
}
int LGBM_DatasetFree(void*) {
  return 0;
}
int LGBM_BoosterCreate(void*, const char*, void** out) {
  *out = &the_handle;
  return label == 13 ? -1 : 0;
}
int LGBM_BoosterUpdateOneIter(void*, int* is_finished) {
  *is_finished = 0;
  return 0;
}
int LGBM_BoosterSaveModelToString(void*, int, int, int, int64_t size, int64_t* length, char* out) {
  *length = sizeof kModel;
  if (size >= *length) std::memcpy(out, kModel, sizeof kModel);
  return 0;
}
int LGBM_BoosterFree(void*) {
  return 0;
}
const char* LGBM_GetLastError() {
  return "an unlucky label";
}
}
