! pipeline.f90 - each task is a stage: while one works at an item, those before it work at later ones.
!
!     covey run -n 4 ./pipeline
!
! Try: a longer loop with `covey run --trace run.trace ...`, then `covey trace run.trace --why`.
program pipeline
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: items = 8, tag = 1
  integer(c_int) :: item, done(items)
  integer :: i
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  do i = 1, items
    item = i - 1
    if (rank > 0) call must(covey_team_recv_array(team, rank - 1, tag, COVEY_FOREVER, item))
    item = item * 2 + 1 ! what a stage does
    if (rank < size - 1) call must(covey_team_send_array(team, rank + 1, tag, item))
    done(i) = item
  end do
  if (rank == size - 1) then
    write (*, '(a, *(i0, :, ", "))', advance='no') 'out of the pipeline came [', done
    print '(a)', ']'
  end if
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'pipeline: ', covey_error_text()
    error stop
  end subroutine must
end program pipeline
