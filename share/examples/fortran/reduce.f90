! reduce.f90 - pi as an integral: each task adds up every size-th strip, a reduction the sums of all.
!
!     covey run -n 4 ./reduce
!
! Try: covey_allreduce(), after which all tasks have the sum; COVEY_OP_MAX; an operation of your own.
program reduce
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: strips = 1000000
  real(c_double) :: mine, total, x
  integer :: i
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  mine = 0
  do i = rank, strips - 1, size
    x = (i + 0.5_c_double) / strips
    mine = mine + 4 / (1 + x * x) / strips
  end do
  call must(covey_reduce(team, 0, COVEY_OP_SUM, mine, total))
  if (rank == 0) print '(a, f0.9)', 'pi is about ', total
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'reduce: ', covey_error_text()
    error stop
  end subroutine must
end program reduce
