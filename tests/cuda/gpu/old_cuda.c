/* A driver's library of before everything that is needed. */
int cuInit(unsigned flags) {
  return (int)flags * 0;
}
