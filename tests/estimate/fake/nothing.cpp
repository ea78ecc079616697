// A library without what LightGBM has.
extern "C" int nothing() {
  return 0;
}
