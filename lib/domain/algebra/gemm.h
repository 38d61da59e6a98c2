/*
 * gemm.h - the algorithms of products, in the order of their names.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_GEMM_H
#define COVEY_LIB_DOMAIN_ALGEBRA_GEMM_H

enum gemm_algorithm { GEMM_LOCAL, GEMM_SUMMA };

#endif
