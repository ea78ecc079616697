// The part of HiGHS's C interface that korch calls. PyPI's highspy wheels carry the library without its
// headers; these prototypes restate highs/interfaces/highs_c_api.h of HiGHS 1.15 (MIT licence) for its
// default 32-bit HighsInt.
#pragma once

extern "C" {

void* Highs_create(void);
void Highs_destroy(void* highs);
int Highs_getSizeofHighsInt(const void* highs);

int Highs_setBoolOptionValue(void* highs, const char* option, int value);
int Highs_setIntOptionValue(void* highs, const char* option, int value);
int Highs_setDoubleOptionValue(void* highs, const char* option, double value);

int Highs_passLp(void* highs, int num_col, int num_row, int num_nz, int a_format, int sense, double offset,
                 const double* col_cost, const double* col_lower, const double* col_upper,
                 const double* row_lower, const double* row_upper, const int* a_start, const int* a_index,
                 const double* a_value);
int Highs_passMip(void* highs, int num_col, int num_row, int num_nz, int a_format, int sense, double offset,
                  const double* col_cost, const double* col_lower, const double* col_upper,
                  const double* row_lower, const double* row_upper, const int* a_start, const int* a_index,
                  const double* a_value, const int* integrality);
int Highs_addRows(void* highs, int num_new_row, const double* lower, const double* upper, int num_new_nz,
                  const int* starts, const int* index, const double* value);
int Highs_deleteRowsByMask(void* highs, int* mask);
int Highs_changeColsCostByRange(void* highs, int from_col, int to_col, const double* cost);
int Highs_changeColsBoundsByRange(void* highs, int from_col, int to_col, const double* lower,
                                  const double* upper);
int Highs_setSolution(void* highs, const double* col_value, const double* row_value, const double* col_dual,
                      const double* row_dual);

int Highs_run(void* highs);
double Highs_getRunTime(const void* highs);
int Highs_getModelStatus(const void* highs);
int Highs_getIntInfoValue(const void* highs, const char* info, int* value);
int Highs_getDoubleInfoValue(const void* highs, const char* info, double* value);
int Highs_getSolution(const void* highs, double* col_value, double* col_dual, double* row_value,
                      double* row_dual);

}  // extern "C"
