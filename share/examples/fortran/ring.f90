! ring.f90 - a list goes round: each task receives it from the one before, and adds its rank.
!
!     covey run -n 4 ./ring
!
! Try: let it go round 1000 times, and divide the time by the number of messages.
program ring
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: tag = 1
  integer(c_int), allocatable :: ranks(:)
  integer :: after, before
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  after = modulo(rank + 1, size)
  before = modulo(rank - 1, size)
  allocate(ranks(merge(size, rank, rank == 0)))
  if (rank == 0) call must(covey_team_send_array(team, after, tag, rank))
  call must(covey_team_recv_array(team, before, tag, COVEY_FOREVER, ranks))
  if (rank > 0) then
    call must(covey_team_send_array(team, after, tag, [ranks, rank]))
  else
    write (*, '(a, *(i0, :, ", "))', advance='no') 'round the ring came [', ranks
    print '(a)', ']'
  end if
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'ring: ', covey_error_text()
    error stop
  end subroutine must
end program ring
