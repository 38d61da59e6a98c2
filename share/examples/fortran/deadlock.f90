! deadlock.f90 - everyone waits for the one before and sends only then: nobody ever gets anything.
!
!     covey run -n 4 ./deadlock
!
! Try: a wait without a timeout, and see who waits for whom by `covey ps` and `covey top`.
program deadlock
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: tag = 1
  integer(c_int64_t), parameter :: second_us = 1000000
  integer(c_int) :: got
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
  if (covey_team_recv_array(team, before, tag, second_us, got) == COVEY_ETIMEOUT) then
    print '(2(a, i0))', 'task ', rank, ' waited in vain for task ', before
  else
    call must(covey_team_send_array(team, after, tag, rank))
  end if
  call must(covey_barrier(team))
  call must(covey_team_sendrecv_array(team, after, before, tag, COVEY_FOREVER, rank, got))
  if (rank == 0) print '(a, i0)', 'with sendrecv() task 0 got ', got
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'deadlock: ', covey_error_text()
    error stop
  end subroutine must
end program deadlock
