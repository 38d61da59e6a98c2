! hello.f90 - one program, many tasks: each does the part of the work that its rank says.
!
!     covey run -n 4 ./hello
!
! Try: other numbers of tasks. The order of the lines is not that of the ranks.
program hello
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer :: item
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  write (*, '(a, i0, a, i0, 3a, *(i0, :, ", "))', advance='no') 'hello from task ', rank, ' of ', size, ' on ', &
    covey_myhost(vm), ': my items are [', (item, item = rank, 11, size)
  print '(a)', ']'
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'hello: ', covey_error_text()
    error stop
  end subroutine must
end program hello
