! bag.f90 - work lies in a bag of the VM: whoever is free takes an item. What a worker that dies held, others get.
!
!     covey run -n 4 ./bag
!
! Try: `covey bags` on another console; kill a worker with `covey kill` while it works.
program bag_of_work
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

  integer, parameter :: items = 20
  type(covey_bag_t) :: bag
  type(covey_bag_item_t) :: item(1)
  type(covey_bag_result_t) :: results(5)
  integer(covey_tid_t) :: first
  integer(c_int), pointer :: given
  integer :: i, n, count, last
  character(32) :: name
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank

  call must(covey_join(vm))
  call must(covey_team_world(vm, team))
  rank = covey_team_rank(team)
  first = covey_mytid(vm)
  call must(covey_bcast(team, 0, first))
  write (name, '(a, i0)') 'example.', first
  if (rank == 0) then
    call must(covey_bag_create(vm, trim(name), bag))
    do i = 0, items - 1
      call must(covey_bag_put(bag, 0, i))
    end do
    call must(covey_bag_close(bag))
    call must(covey_barrier(team))
    count = 0
    last = 0
    do
      n = covey_bag_result(bag, COVEY_FOREVER, results)
      call must(n)
      if (n == 0) exit
      do i = 1, n
        call c_f_pointer(results(i)%bytes, given)
        count = count + 1
        last = max(last, given)
      end do
    end do
    print '(i0, a, i0)', count, ' results, the last is ', last
  else
    call must(covey_barrier(team)) ! now it is there
    call must(covey_bag_attach(vm, trim(name), bag))
    do while (covey_bag_take(bag, COVEY_FOREVER, item) > 0)
      call c_f_pointer(item(1)%bytes, given)
      call must(covey_bag_done(bag, item(1), given * given))
    end do
  end if
  call must(covey_barrier(team))
  call covey_bag_free(bag)
  call covey_team_free(team)
  call covey_leave(vm)

contains

  subroutine must(answer) ! what a call gave
    integer, intent(in) :: answer
    if (answer >= 0) return
    print '(2a)', 'bag: ', covey_error_text()
    error stop
  end subroutine must
end program bag_of_work
