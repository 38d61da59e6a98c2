! barrier.f90 - nobody leaves a barrier before all have come to it.
!
!     covey run -n 4 ./barrier
!
! Try: leave the barrier out: then the earliest task leaves long before the last one comes.
program barrier
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  real(c_double) :: came, left, last_came, first_left
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  call pause_for(0.1_c_double * rank) ! they come one after another
  came = now()
  call must(covey_barrier(team))
  left = now()
  call must(covey_reduce(team, 0, COVEY_OP_MAX, came, last_came))
  call must(covey_reduce(team, 0, COVEY_OP_MIN, left, first_left))
  ! clocks of several hosts differ: these are virtual hosts of one machine
  if (rank == 0) print '(2a)', 'all had come before the first one left: ', &
    trim(merge('True ', 'False', last_came <= first_left))
  call covey_team_free(team)
  call covey_leave(vm)

contains

  real(c_double) function now() ! seconds
    integer(c_int64_t) :: ticks, rate
    call system_clock(ticks, rate)
    now = real(ticks, c_double) / real(rate, c_double)
  end function now

  subroutine pause_for(seconds)
    real(c_double), intent(in) :: seconds
    real(c_double) :: until
    until = now() + seconds
    do while (now() < until)
    end do
  end subroutine pause_for

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'barrier: ', covey_error_text()
    error stop
  end subroutine must
end program barrier
