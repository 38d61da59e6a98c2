! master_worker.f90 - rank 0 gives the next piece of work to each worker that has done one.
!
!     covey run -n 4 ./master_worker
!
! Try: count how many pieces each worker did, and let one of them sleep a little at each.
program master_worker
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: pieces = 20, tag_work = 1, tag_stop = 2
  integer(c_int) :: piece, result(2), next, busy, results, sum
  integer(c_size_t) :: count
  integer :: worker
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, size

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  size = covey_team_size(team)
  if (rank > 0) then
    do
      call must(covey_team_recv_array(team, 0, COVEY_ANY_TAG, COVEY_FOREVER, piece, count=count))
      if (count == 0) exit ! an array of nothing: there is no more
      call must(covey_team_send_array(team, 0, tag_work, [piece, piece * piece]))
    end do
  else
    next = 0
    busy = 0
    results = 0
    sum = 0
    do worker = 1, size - 1
      call give(worker)
    end do
    do while (busy > 0)
      worker = covey_team_recv_array(team, COVEY_ANY_RANK, tag_work, COVEY_FOREVER, result)
      call must(worker)
      busy = busy - 1
      results = results + 1
      sum = sum + result(2)
      call give(worker)
    end do
    print '(i0, a, i0)', results, ' results, their sum is ', sum
  end if
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine give(to)
    integer, intent(in) :: to
    integer(c_int) :: none(0)
    if (next < pieces) then
      call must(covey_team_send_array(team, to, tag_work, next))
      next = next + 1
      busy = busy + 1
    else
      call must(covey_team_send_array(team, to, tag_stop, none))
    end if
  end subroutine give

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'master_worker: ', covey_error_text()
    error stop
  end subroutine must
end program master_worker
