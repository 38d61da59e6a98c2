! race.f90 - tasks read a number, add one and write it: without a lock additions get lost.
!
!     covey run -n 4 ./race
!
! Try: fewer rounds without the pause: the race is still there, but seldom seen.
program race
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: rounds = 5
  type(covey_session_t) :: session
  integer(c_int64_t) :: fence
  integer :: i
  logical :: locked
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  call must(covey_session_join(vm, 'race', session))
  locked = .false.
  do
    call must(covey_barrier(team))
    if (rank == 0) call set(0)
    call must(covey_barrier(team))
    do i = 1, rounds
      if (locked) call must(covey_lock(vm, 'race', COVEY_FOREVER, fence))
      call add()
      if (locked) call must(covey_unlock(vm, 'race', fence))
    end do
    call must(covey_barrier(team))
    if (rank == 0) print '(2a, i0, a, i0)', trim(merge('with a lock:   ', 'without a lock:', locked)), ' ', &
      number(), ' of ', rounds * size
    if (locked) exit
    locked = .true.
  end do
  call must(covey_barrier(team))
  call must(covey_session_leave(session))
  call covey_team_free(team)
  call covey_leave(vm)

contains

  integer function number()
    type(covey_value_t) :: value
    call must(covey_session_get(session, value))
    number = value%value(1)
  end function number

  subroutine set(to) ! whatever another task wrote meanwhile is lost
    integer, intent(in) :: to
    type(covey_value_t) :: value
    call must(covey_session_get(session, value))
    value%bytes = 1
    value%value(1) = int(to, c_int8_t)
    call must(covey_session_put(session, value))
  end subroutine set

  subroutine add()
    integer :: before
    before = number()
    call pause_for(0.01_c_double)
    call set(before + 1)
  end subroutine add

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
    print '(2a)', 'race: ', covey_error_text()
    error stop
  end subroutine must
end program race
