! pingpong.f90 - how long a message takes to the other task and back, by its size.
!
!     covey run -n 2 ./pingpong
!
! Try: both tasks on one host (--host h0), other routes (--route tcp), and `covey bench pingpong`.
program pingpong
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: rounds = 20, tag = 1, bytes(4) = [8, 1024, 131072, 1048576]
  integer(c_int8_t), allocatable :: array(:)
  real(c_double) :: began, seconds
  integer :: i, n
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  do n = 1, 4
    allocate(array(bytes(n)), source=0_c_int8_t)
    began = now()
    do i = 1, merge(rounds, 0, rank < 2 .and. size > 1)
      if (rank == 0) call must(covey_team_send_array(team, 1, tag, array))
      call must(covey_team_recv_array(team, 1 - rank, tag, COVEY_FOREVER, array))
      if (rank == 1) call must(covey_team_send_array(team, 0, tag, array))
    end do
    seconds = (now() - began) / rounds / 2
    if (rank == 0) print '(i8, a, f9.1, a, f8.1, a)', bytes(n), ' bytes: ', seconds * 1e6, ' us, ', &
      bytes(n) / seconds / 1e6, ' MB/s'
    deallocate(array)
  end do
  call covey_team_free(team)
  call covey_leave(vm)

contains

  real(c_double) function now() ! seconds
    integer(c_int64_t) :: ticks, rate
    call system_clock(ticks, rate)
    now = real(ticks, c_double) / real(rate, c_double)
  end function now

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'pingpong: ', covey_error_text()
    error stop
  end subroutine must
end program pingpong
