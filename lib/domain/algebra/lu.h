/*
 * lu.h - the algorithms of LU factorization and of solving by it, in the order of their names.
 */
#ifndef COVEY_LIB_DOMAIN_ALGEBRA_LU_H
#define COVEY_LIB_DOMAIN_ALGEBRA_LU_H

enum lu_algorithm { LU_LOCAL, LU_COLUMN, LU_BLOCK, LU_TOURNAMENT, LU_FLOAT };

#endif
