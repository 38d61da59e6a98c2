! scatter_gather.f90 - the root's array in equal blocks to all; each works at its own; the root gathers them.
!
!     covey run -n 4 ./scatter_gather
!
! Try: 10 numbers for 4 tasks, with covey_scatterv() and covey_gatherv(), which take a count for each rank.
program scatter_gather
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: each = 3
  real(c_double), allocatable :: whole(:), squares(:)
  real(c_double) :: block(each)
  integer :: i, n
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  n = merge(each * size, 0, rank == 0)
  allocate(whole(n), squares(n))
  whole(:) = [(real(i, c_double), i = 0, n - 1)]
  call must(covey_scatter(team, 0, whole, block))
  block = block ** 2
  call must(covey_gather(team, 0, block, squares))
  if (rank == 0) then
    write (*, '(a, *(i0, :, ", "))', advance='no') 'squares: [', nint(squares)
    print '(a)', ']'
  end if
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'scatter_gather: ', covey_error_text()
    error stop
  end subroutine must
end program scatter_gather
