! report.f90 - what the programs of tests/fortran/ say: `ok SUBJECT` where all was right since the last one.
module report
  use, intrinsic :: iso_fortran_env, only: output_unit
  use covey, only: covey_error_text
  implicit none
  private
  public :: check, subject, is, ended

  integer :: wrong = 0
  logical :: any_wrong = .false.

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    any_wrong = .true.
    write (output_unit, '(4a)') 'not ok ', what, ': ', covey_error_text()
    flush (output_unit)
  end subroutine check

  ! An answer of a call, which must be this one.
  subroutine is(answer, expected, what)
    integer, intent(in) :: answer, expected
    character(*), intent(in) :: what
    character(60) :: numbers
    write (numbers, '(a, i0, a, i0)') ' gives ', answer, ', not ', expected
    call check(answer == expected, what//trim(numbers))
  end subroutine is

  subroutine subject(name)
    character(*), intent(in) :: name
    if (wrong == 0) write (output_unit, '(2a)') 'ok ', name
    flush (output_unit)
    wrong = 0
  end subroutine subject

  ! To be called at the end: whether anything was wrong.
  subroutine ended()
    if (any_wrong) error stop 1
  end subroutine ended
end module report
