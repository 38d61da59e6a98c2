! services.f90 - module covey on the VM's services: locks, tokens, sessions, elections, bags, traces, hosts, the end.
!
! With an argument it is a task that this program spawned: "stop" ends the trace of the VM.
program services
  use, intrinsic :: iso_c_binding
  use covey
  use report
  implicit none

  integer(c_int64_t), parameter :: soon = 30000000_c_int64_t, once = 100000_c_int64_t
  type(covey_t) :: vm
  integer(covey_tid_t) :: me

  call is(covey_join(vm), 0, 'covey_join()')
  me = covey_mytid(vm)
  if (command_argument_count() > 0) then
    call is(covey_trace_stop(vm, soon), 0, 'covey_trace_stop()')
  else
    call locks()
    call tokens()
    call sessions()
    call decisions()
    call bags()
    call traces()
    call machine()
    call is(covey_halt(vm), 0, 'covey_halt()')
    call subject('the end')
  end if
  call covey_leave(vm)
  call ended()

contains

  subroutine locks()
    type(covey_held_t), allocatable :: held(:)
    type(covey_party_t) :: parties(1)
    integer(c_int64_t) :: fence, same
    call is(covey_lock(vm, 'door', soon, fence), 0, 'covey_lock()')
    call is(covey_trylock(vm, 'door'), COVEY_EEXIST, 'covey_trylock() of the own lock')
    call is(covey_lock_owner(vm, 'door', same), me, 'covey_lock_owner()')
    call check(same == fence, 'its fence')
    call is(covey_held(vm, held), 1, 'covey_held()')
    call check(covey_text(held(1)%name) == 'door' .and. held(1)%kind == COVEY_HELD_LOCK, 'the held lock')
    call is(covey_unlock(vm, 'door', fence), 0, 'covey_unlock()')
    call is(covey_trylock(vm, 'door', fence), 0, 'covey_trylock()')
    call is(covey_unlock(vm, 'door', fence), 0, 'covey_unlock()')
    call is(covey_rendezvous(vm, 'square ', 1, 'value', soon, parties), 0, 'covey_rendezvous()')
    call check(parties(1)%tid == me .and. parties(1)%bytes == 5, 'the only party')
    call subject('locks')
  end subroutine locks

  subroutine tokens()
    integer(c_int64_t) :: number, seen
    call is(covey_token_create(vm, 'baton', number), 0, 'covey_token_create()')
    call is(covey_token_holder(vm, 'baton', seen), me, 'covey_token_holder()')
    call check(seen == number, 'the number of the token')
    call is(covey_token_pass(vm, 'baton', number, COVEY_ANY_TASK), 0, 'covey_token_pass()')
    call is(covey_token_request(vm, 'baton', soon, number), 0, 'covey_token_request()')
    call is(covey_token_destroy(vm, 'baton', number), 0, 'covey_token_destroy()')
    call subject('tokens')
  end subroutine tokens

  subroutine sessions()
    type(covey_session_t) :: session
    type(covey_view_t) :: view
    type(covey_value_t) :: value, got
    integer(covey_tid_t), pointer :: members(:)
    call is(covey_session_join(vm, 'meeting', session), 0, 'covey_session_join()')
    call is(covey_session_notify(session, 51), 0, 'covey_session_notify()')
    call is(covey_session_view(session, view), 0, 'covey_session_view()')
    call c_f_pointer(view%members, members, [view%count])
    call check(view%change == COVEY_VIEW_JOINED .and. members(1) == me, 'the view')
    call is(covey_session_next(session, once, view), COVEY_ETIMEOUT, 'covey_session_next()')
    call is(covey_session_expel(session, me + 1), COVEY_ENOTASK, 'covey_session_expel()')
    value%bytes = 3
    value%value(1:3) = [1_c_int8_t, 2_c_int8_t, 3_c_int8_t]
    call is(covey_session_put(session, value), 1, 'covey_session_put()')
    call is(covey_session_get(session, got), 0, 'covey_session_get()')
    call check(got%version == value%version .and. got%bytes == 3 .and. got%value(3) == 3, 'the value')
    call is(covey_session_leave(session), 0, 'covey_session_leave()')
    call subject('sessions')
  end subroutine sessions

  subroutine decisions()
    type(covey_leader_t) :: leader
    type(covey_decision_t) :: decision
    call is(covey_elect_stand(vm, 'chair', leader), 0, 'covey_elect_stand()')
    call is(leader%tid, me, 'the leader')
    call is(covey_elect_leader(vm, 'chair', 0_c_int64_t, soon, leader), 0, 'covey_elect_leader()')
    call is(covey_elect_resign(vm, 'chair'), 0, 'covey_elect_resign()')
    decision%bytes = 1
    decision%value(1) = 42
    call is(covey_propose(vm, 'series', 1_c_int64_t, soon, decision), 0, 'covey_propose()')
    call is(covey_learn(vm, 'series', 1_c_int64_t, soon, decision), 0, 'covey_learn()')
    call check(decision%proposer == me .and. decision%value(1) == 42, 'what is decided')
    call is(covey_forget(vm, 'series', -1_c_int64_t), 0, 'covey_forget()')
    call subject('elections and decisions')
  end subroutine decisions

  subroutine bags()
    type(covey_bag_t) :: bag, other
    type(covey_bag_options_t) :: options
    type(covey_bag_item_t) :: items(2)
    type(covey_bag_result_t) :: results(4)
    type(covey_bag_info_t) :: info
    type(covey_bag_info_t), allocatable :: all(:)
    integer(c_int) :: number
    integer(c_int), pointer :: given
    integer :: i, n
    options%in_order = 1
    options%keep = 1
    call is(covey_bag_create(vm, 'work', bag, options), 0, 'covey_bag_create()')
    call is(covey_bag_attach(vm, 'work', other), 0, 'covey_bag_attach()')
    do number = 1, 3
      call is(covey_bag_put(bag, 0, number), 0, 'covey_bag_put()')
    end do
    call is(covey_bag_flush(bag, soon), 0, 'covey_bag_flush()')
    call is(covey_bag_close(bag), 0, 'covey_bag_close()')
    n = covey_bag_take(other, soon, items)
    call check(n > 0, 'covey_bag_take()')
    call is(covey_bag_return(other, items(1)), 0, 'covey_bag_return()')
    do i = 2, n
      call is(covey_bag_return(other, items(i)), 0, 'covey_bag_return()')
    end do
    do
      n = covey_bag_take(other, soon, items)
      if (n <= 0) exit
      do i = 1, n
        call c_f_pointer(items(i)%bytes, given)
        call is(covey_bag_done(other, items(i), [given, given * given]), 0, 'covey_bag_done()')
      end do
    end do
    call is(covey_bag_wait(bag, soon), 0, 'covey_bag_wait()')
    number = 0
    do
      n = covey_bag_result(bag, soon, results)
      if (n <= 0) exit
      number = number + n
      call check(all_of(results(:n)), 'covey_bag_result()')
    end do
    call is(number, 3, 'the number of results')
    call is(covey_bag_info(bag, info), 0, 'covey_bag_info()')
    call check(info%put == 3 .and. info%done == 3, 'what the bag says')
    call is(covey_bags(vm, all), 1, 'covey_bags()')
    call check(covey_text(all(1)%name) == 'work', 'its name')
    call covey_bag_free(other)
    call covey_bag_free(bag)
    call is(covey_bag_save(vm, 'work', 'fortran.bag', info), 0, 'covey_bag_save()')
    call is(covey_bag_load(vm, 'fortran.bag', 'again', info), 0, 'covey_bag_load()')
    call check(info%put == 3 .and. info%delivered == 3, 'what is in the file')
    call is(covey_bag_load(vm, 'fortran.bag', 'twice', info), COVEY_EEXIST, 'covey_bag_load() of a file that was loaded')
    call is(covey_bag_again('fortran.bag'), 0, 'covey_bag_again()')
    open (newunit=i, file='fortran.bag', status='old')
    close (i, status='delete')
    call is(covey_bag_attach(vm, 'again', bag), 0, 'covey_bag_attach() of a bag of a file')
    call is(covey_bag_destroy(bag), 0, 'covey_bag_destroy()')
    call subject('bags')
  end subroutine bags

  logical function all_of(results)
    type(covey_bag_result_t), intent(in) :: results(:)
    integer(c_int), pointer :: pair(:)
    integer :: i
    all_of = .true.
    do i = 1, size(results)
      call c_f_pointer(results(i)%bytes, pair, [2])
      all_of = all_of .and. results(i)%size == 8 .and. pair(2) == pair(1)**2
    end do
  end function all_of

  subroutine traces()
    type(covey_trace_t) :: trace
    type(covey_trace_end_t) :: end
    type(covey_spawn_t) :: what
    type(covey_words_t), target :: argv
    character(512) :: program, folder
    integer(covey_tid_t) :: tids(1)
    call get_command_argument(0, program)
    call get_environment_variable('COVEY_TEST_DIR', folder)
    call check(covey_trace_on(vm) == 0, 'covey_trace_on() while nobody traces')
    call is(covey_trace_open(trace, trim(folder)//'/trace', 0), 0, 'covey_trace_open()')
    call is(covey_trace_expect(vm, 'part', 0.1_c_double), 0, 'covey_trace_expect()')
    call is(covey_trace_begin(vm, 'part'), 0, 'covey_trace_begin()')
    call is(covey_trace_mark(vm, 'moment'), 0, 'covey_trace_mark()')
    call is(covey_trace_count(vm, 'number', 3.0_c_double), 0, 'covey_trace_count()')
    call is(covey_trace_end(vm, 'part'), 0, 'covey_trace_end()')
    what%argv = argv%list([character(512) :: program, 'stop'])
    call is(covey_spawn(vm, what, 1, tids), 1, 'covey_spawn()')
    call is(covey_trace_wait(trace), 0, 'covey_trace_wait()')
    call is(covey_trace_close(trace, end), 0, 'covey_trace_close()')
    call check(end%bytes > 0, 'the bytes of the trace')
    call subject('traces')
  end subroutine traces

  subroutine machine()
    type(covey_host_spec_t) :: specs(1)
    type(covey_host_result_t) :: results(1)
    type(covey_words_t), target :: name
    type(covey_stat_t), allocatable :: stats(:)
    character(200) :: text
    integer(c_int64_t) :: offset
    call check(covey_stats(vm, 1, stats) > 0, 'covey_stats()')
    call check(all(stats%host == 1), 'the host of the counters')
    offset = 0
    call check(covey_log(vm, 1, offset, text) > 0, 'covey_log()')
    call check(offset > 0 .and. text /= '', 'what the log says')
    specs(1)%name = name%text('h9')
    specs(1)%launcher = COVEY_LAUNCH_LOCAL
    call is(covey_add_hosts(vm, specs, results), 1, 'covey_add_hosts()')
    call is(results(1)%error, 0, 'the host that joined, '//covey_text(results(1)%text))
    call is(covey_remove_hosts(vm, ['h9'], results), 1, 'covey_remove_hosts()')
    call subject('the virtual machine')
  end subroutine machine
end program services
