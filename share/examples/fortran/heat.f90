! heat.f90 - heat along a rod: each task has a piece, and gets the edges of its neighbours at each step.
!
!     covey run -n 4 ./heat
!
! Try: other numbers of tasks: the result has the same bits. Why do the two sends not wait for each other?
program heat
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: points = 64, steps = 500, each = 8, to_next = 1, to_last = 2
  real(c_double), allocatable, asynchronous :: rod(:)
  real(c_double), allocatable :: whole(:)
  integer(c_size_t), allocatable :: counts(:)
  type(covey_req_t) :: sends(2)
  integer :: n, step, i
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  allocate(counts(size))
  counts(:) = [(int(points * (i + 1) / size - points * i / size, c_size_t), i = 0, size - 1)]
  n = int(counts(rank + 1))
  allocate(rod(0:n + 1), source=0.0_c_double) ! with a point of each neighbour
  if (rank == 0) rod(0) = 100 ! one end is kept hot, the other one cold
  do step = 1, steps
    if (rank > 0) call must(covey_team_isend_array(team, rank - 1, to_last, rod(1:1), sends(1)))
    if (rank < size - 1) call must(covey_team_isend_array(team, rank + 1, to_next, rod(n:n), sends(2)))
    if (rank > 0) call must(covey_team_recv_array(team, rank - 1, to_next, COVEY_FOREVER, rod(0:0)))
    if (rank < size - 1) call must(covey_team_recv_array(team, rank + 1, to_last, COVEY_FOREVER, rod(n + 1:)))
    call must(covey_wait_all(sends, COVEY_FOREVER)) ! those that there are
    do i = 1, 2
      call covey_req_free(sends(i))
    end do
    rod(1:n) = rod(1:n) + 0.25_c_double * (rod(0:n - 1) - 2 * rod(1:n) + rod(2:n + 1))
  end do
  allocate(whole(merge(points, 0, rank == 0)))
  call must(covey_gatherv(team, 0, rod(1:n), whole, counts))
  if (rank == 0) then
    write (*, '(a, *(a, :, ", "))', advance='no') 'each eighth point: [', (text(whole(i)), i = 1, points, each)
    print '(a)', ']'
  end if
  call covey_team_free(team)
  call covey_leave(vm)

contains

  function text(number) ! at most two decimals
    real(c_double), intent(in) :: number
    character(:), allocatable :: text
    character(16) :: buffer
    write (buffer, '(f0.2)') number
    text = trim(buffer)
    if (text(1:1) == '.') text = '0' // text
    if (text(len(text):) == '0') text = text(:len(text) - 1)
  end function text

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'heat: ', covey_error_text()
    error stop
  end subroutine must
end program heat
