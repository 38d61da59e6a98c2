! messages.f90 - module covey in a program of one task: joining, hosts, messages, requests, tasks, groups.
program messages
  use, intrinsic :: iso_c_binding
  use covey
  use report
  implicit none

  integer(c_int64_t), parameter :: soon = 30000000_c_int64_t
  type(covey_t) :: vm
  integer(covey_tid_t) :: me

  call joining()
  call hosts()
  call packing()
  call sending()
  call requests()
  call tasks()
  call given()
  call orders()
  call groups()
  call covey_leave(vm)
  call check(.not. c_associated(vm%handle), 'covey_leave() unsets the handle')
  call ended()

contains

  subroutine joining()
    type(covey_options_t) :: options
    type(covey_words_t), target :: words
    type(covey_timing_t) :: timing
    character(COVEY_TID_NAME_BYTES) :: name
    character(64) :: default_name
    call check(len(covey_vm_default(default_name)) > 0 .and. len_trim(default_name) > 0, 'covey_vm_default()')
    call check(len(covey_stat_help('tasks.now')) > 0, 'covey_stat_help()')
    call check(covey_version() == COVEY_VERSION_TEXT, 'covey_version()')
    call check(len(covey_strerror(COVEY_ETIMEOUT)) > 0, 'covey_strerror()')
    options%vm = words%text('no such machine')
    call check(covey_join(vm, options) < 0, 'covey_join() of no VM')
    call check(len(covey_error_text()) > 0, 'covey_error_text()')
    call is(covey_join(vm), 0, 'covey_join()')
    me = covey_mytid(vm)
    call check(me > 0, 'covey_mytid()')
    call is(covey_parent(vm), COVEY_NO_PARENT, 'covey_parent()')
    call check(covey_myhost(vm) == 'h0', 'covey_myhost()')
    call check(len(covey_vm_name(vm)) > 0, 'covey_vm_name()')
    call check(covey_tid_host(me) > 0, 'covey_tid_host()')
    call check(index(covey_tid_name(vm, me, name), ' on h0') > 0 .and. index(name, ' on h0') > 0, 'covey_tid_name()')
    call is(covey_set_route(vm, COVEY_ANY_TASK, COVEY_ROUTE_AUTO), 0, 'covey_set_route()')
    call check(covey_route(vm, me) >= 0, 'covey_route()')
    call check(covey_route_name(COVEY_ROUTE_SHM) == 'shm', 'covey_route_name()')
    call is(covey_route_parse('tcp'), COVEY_ROUTE_TCP, 'covey_route_parse()')
    call is(covey_route_reach(COVEY_ROUTE_SHM), COVEY_REACH_INSIDE, 'covey_route_reach()')
    call is(covey_timing(vm, timing), 0, 'covey_timing()')
    call check(timing%elapsed_s > 0, 'covey_timing() gives a time')
    call subject('joining')
  end subroutine joining

  subroutine hosts()
    type(covey_host_t), allocatable :: list(:), more(:)
    type(covey_task_t), allocatable :: tasks(:)
    type(covey_host_stat_t), allocatable :: stats(:)
    integer(c_int64_t) :: time_us, ahead_us
    type(covey_task_stats_t) :: working
    type(covey_task_peer_t), allocatable :: sent(:)
    integer(c_int) :: descriptor
    call is(covey_hosts(vm, list), 2, 'covey_hosts()')
    call is(size(list), 2, 'covey_hosts(): its list')
    call check(covey_text(list(1)%name) == 'h0', 'a host''s name')
    call check(covey_tasks(vm, 0, tasks) >= 1, 'covey_tasks()')
    call check(any(tasks%tid == me), 'covey_tasks() lists the caller')
    call is(covey_survey(vm, soon, list, tasks), 2, 'covey_survey()')
    call check(any(tasks%tid == me), 'covey_survey() lists the caller')
    call is(covey_host_stats(vm, soon, more, stats), 2, 'covey_host_stats()')
    call check(covey_host_pages(stats(1)) >= 0, 'covey_host_pages()')
    call is(covey_task_stats(vm, soon, 100, working), 0, 'covey_task_stats()')
    call check(working%task_count >= 1, 'covey_task_stats() lists tasks')
    call covey_free(working%hosts)
    call covey_free(working%tasks)
    call covey_free(working%stats)
    call check(covey_task_peers(vm, soon, 100, sent) >= 0, 'covey_task_peers()')
    call is(covey_host_drain(vm, list(2)%index, 60000000_c_int64_t), 0, 'covey_host_drain()')
    call is(covey_host_drain(vm, list(2)%index, -1_c_int64_t), 0, 'covey_host_drain() no more')
    call is(covey_host_clock(vm, list(2)%index, time_us, ahead_us), 0, 'covey_host_clock()')
    call check(time_us > 0, 'covey_host_clock() gives a time')
    call check(covey_measure(vm, list(1)%index) == 1, 'covey_measure()')
    descriptor = covey_fd(vm)
    call check(descriptor >= 0, 'covey_fd()')
    call is(covey_keep(vm, 8_c_int64_t), 0, 'covey_keep()')
    call is(covey_keep(vm, -8_c_int64_t), 0, 'covey_keep() back')
    call subject('hosts')
  end subroutine hosts

  subroutine packing()
    type(covey_msg_t) :: msg, nested
    type(covey_info_t) :: info
    real(c_double) :: matrix(3, 4), copy(3, 4), row(4)
    complex(c_float) :: z(2) = [(1.0, 2.0), (3.0, 4.0)], zz(2)
    integer(c_int16_t) :: small(6) = [1_2, 2_2, 3_2, 4_2, 5_2, 6_2], few(3), spread(6)
    real(c_double), pointer :: view(:)
    character(8) :: text
    character(4) :: bytes
    type(c_ptr) :: at
    integer(c_size_t) :: count
    integer(c_int) :: kind
    integer :: i
    call is(int(covey_type_size(COVEY_DOUBLE)), 8, 'covey_type_size()')
    call check(covey_type_name(COVEY_INT32) == 'int32', 'covey_type_name()')
    matrix = reshape([(real(i, c_double), i = 1, 12)], [3, 4])
    msg = covey_msg_new()
    nested = covey_msg_new()
    call check(c_associated(msg%handle), 'covey_msg_new()')
    call is(covey_pack(msg, matrix), 0, 'covey_pack() of a matrix')
    call is(covey_pack(msg, matrix(2, :)), 0, 'covey_pack() of a row')
    call is(covey_pack(msg, z), 0, 'covey_pack() of complex numbers')
    call is(covey_pack(msg, small, stride=2_c_ptrdiff_t), 0, 'covey_pack() with a stride')
    call is(covey_pack_inplace(msg, matrix), 0, 'covey_pack_inplace()')
    call is(covey_pack_string(msg, 'blank '), 0, 'covey_pack_string()')
    call is(covey_pack_bytes(msg, 'abcd'), 0, 'covey_pack_bytes()')
    i = size(row)
    call is(covey_pack(nested, row(i:i - 3)), 0, 'covey_pack() of nothing')
    call is(covey_unpack(nested, row(:0)), 0, 'covey_unpack() of nothing')
    call covey_msg_reset(nested)
    call is(covey_pack(nested, 7_c_int), 0, 'covey_pack() of a number')
    call is(covey_pack_msg(msg, nested), 0, 'covey_pack_msg()')
    call is(covey_pack(msg, 1.0_c_long_double), COVEY_EINVAL, 'covey_pack() of an unknown type')
    call check(index(covey_error_text(), 'has no type') > 0, 'why it is refused')
    call is(covey_pack(msg, row, count=5_c_size_t), COVEY_EINVAL, 'covey_pack() of too many')
    call is(sizeless(msg, row), COVEY_EINVAL, 'covey_pack() of an array of assumed size')
    call is(covey_pack_inplace(msg, matrix(2, :)), COVEY_EINVAL, 'covey_pack_inplace() of a row')

    call is(covey_peek(msg, kind, count), 0, 'covey_peek()')
    call check(kind == COVEY_DOUBLE .and. count == 12, 'covey_peek() tells of the matrix')
    call is(covey_unpack(msg, few), COVEY_ETYPE, 'covey_unpack() of another type')
    call check(index(covey_error_text(), 'has no type') == 0, 'a later cause is the library''s')
    copy = 0
    call is(covey_unpack(msg, copy), 0, 'covey_unpack()')
    call check(all(abs(copy - matrix) < 0.5), 'the matrix')
    call is(covey_unpack(msg, copy(1, :)), 0, 'covey_unpack() into a row')
    call check(all(abs(copy(1, :) - matrix(2, :)) < 0.5), 'the row')
    call is(covey_unpack(msg, zz), 0, 'covey_unpack() of complex numbers')
    call check(all(abs(zz - z) < 0.5), 'the complex numbers')
    spread = 0
    call is(covey_unpack(msg, spread, count=2_c_size_t, stride=3_c_ptrdiff_t), 0, 'covey_unpack() with a stride')
    call check(all(spread == [1, 0, 0, 3, 0, 0]), 'the strided numbers')
    call is(covey_unpack(msg, few, count=1_c_size_t), 0, 'covey_unpack() of the rest')
    call is(covey_unpack_view(msg, COVEY_DOUBLE, at, count), 0, 'covey_unpack_view()')
    call c_f_pointer(at, view, [count])
    call check(size(view) == 12 .and. abs(view(12) - 12) < 0.5, 'the view')
    call is(covey_unpack_string(msg, text), 0, 'covey_unpack_string()')
    call check(text == 'blank', 'the string')
    call is(covey_unpack_bytes(msg, bytes), 0, 'covey_unpack_bytes()')
    call check(bytes == 'abcd', 'the bytes')
    call covey_msg_free(nested)
    call is(covey_unpack_msg(msg, nested), 0, 'covey_unpack_msg()')
    call is(covey_unpack(nested, kind), 0, 'covey_unpack() of a number')
    call is(kind, 7, 'the nested number')
    call is(covey_unpack(msg, kind), COVEY_EEND, 'covey_unpack() at the end')
    call covey_msg_info(msg, info)
    call is(info%source, COVEY_NO_TASK, 'covey_msg_info()')
    call covey_msg_rewind(msg)
    call is(covey_peek(msg, kind, count), 0, 'covey_msg_rewind()')
    call covey_msg_reset(msg)
    call is(covey_peek(msg, kind, count), COVEY_EEND, 'covey_msg_reset()')
    call covey_msg_free(msg)
    call covey_msg_free(nested)
    call check(.not. c_associated(msg%handle), 'covey_msg_free()')
    call subject('messages')
  end subroutine packing

  integer function sizeless(msg, array)
    type(covey_msg_t), intent(in) :: msg
    real(c_double), intent(in) :: array(*)
    sizeless = covey_pack(msg, array, count=4_c_size_t)
  end function sizeless

  subroutine sending()
    type(covey_msg_t) :: msg, got
    type(covey_info_t) :: info
    integer(c_int) :: out(5) = [1, 2, 3, 4, 5], in(8)
    integer(c_size_t) :: count
    msg = covey_msg_new()
    call is(covey_pack(msg, out), 0, 'covey_pack()')
    call is(covey_send(vm, me, 1, msg), 0, 'covey_send()')
    call is(covey_probe(vm, COVEY_ANY_TASK, 1, soon, info), 0, 'covey_probe()')
    call is(info%tag, 1, 'covey_probe() tells the tag')
    call is(covey_recv(vm, me, COVEY_ANY_TAG, soon, got), 0, 'covey_recv()')
    call is(covey_unpack(got, in(1:5)), 0, 'covey_unpack()')
    call check(all(in(1:5) == out), 'what was received')
    call covey_msg_free(got)
    call is(covey_recv(vm, me, 1, COVEY_POLL, got), COVEY_ETIMEOUT, 'covey_recv() of nothing')
    call is(covey_send_array(vm, me, 2, out(2:4)), 0, 'covey_send_array()')
    call is(covey_recv_array(vm, me, 2, soon, in, count=count, info=info), 0, 'covey_recv_array()')
    call check(count == 3 .and. all(in(1:3) == out(2:4)) .and. info%source == me, 'the array')
    call is(covey_sendrecv(vm, me, me, 3, soon, msg, got), 0, 'covey_sendrecv()')
    call covey_msg_free(got)
    call is(covey_sendrecv_array(vm, me, me, 4, soon, out, in, count=count), 0, 'covey_sendrecv_array()')
    call is(int(count), 5, 'the number of elements')
    call is(covey_mcast(vm, [me], 5, msg), 0, 'covey_mcast()')
    call is(covey_cast(vm, [me], COVEY_ORDER_TOTAL, 6, msg), 0, 'covey_cast()')
    call is(covey_recv(vm, me, 6, soon, got), 0, 'covey_cast() comes to the caller')
    call covey_msg_free(got)
    call covey_msg_free(msg)
    call subject('sending')
  end subroutine sending

  subroutine requests()
    type(covey_msg_t) :: msg, got
    type(covey_req_t) :: reqs(2), one
    type(covey_info_t) :: info
    type(covey_notice_t) :: notice
    integer(c_int), asynchronous :: out(4) = [1, 2, 3, 4], in(6)
    integer(c_size_t) :: count
    integer :: position
    msg = covey_msg_new()
    call is(covey_pack(msg, out), 0, 'covey_pack()')
    call is(covey_irecv(vm, me, 11, reqs(1)), 0, 'covey_irecv()')
    call is(covey_irecv_array(vm, me, 12, in, reqs(2)), 0, 'covey_irecv_array()')
    call is(covey_test(reqs(1)), 0, 'covey_test()')
    call is(covey_isend(vm, me, 11, msg, one), 0, 'covey_isend()')
    call check(.not. c_associated(msg%handle), 'covey_isend() takes the message over')
    call is(covey_wait(one, soon), 0, 'covey_wait()')
    call covey_req_free(one)
    call is(covey_wait_any(reqs, soon), 0, 'covey_wait_any()')
    call is(covey_isend_array(vm, me, 12, out, one), 0, 'covey_isend_array()')
    call is(covey_wait_all(reqs, soon), 0, 'covey_wait_all()')
    position = covey_wait_notice(vm, reqs, 13, soon, notice)
    call check(position == 0, 'covey_wait_notice()')
    call is(covey_req_result(reqs(1), info, got), 0, 'covey_req_result()')
    call check(info%tag == 11 .and. c_associated(got%handle), 'the received message')
    call is(covey_req_result(reqs(2), count=count), 0, 'covey_req_result() of an array')
    call check(count == 4 .and. all(in(1:4) == out), 'the received array')
    call covey_msg_free(got)
    call is(covey_wait(one, soon), 0, 'covey_wait() of the array')
    call covey_req_free(one)
    call covey_req_free(reqs(1))
    call covey_req_free(reqs(2))
    call is(covey_irecv(vm, me, 14, one), 0, 'covey_irecv()')
    call is(covey_cancel(one), 1, 'covey_cancel()')
    call is(covey_wait(one, soon), COVEY_ECANCELED, 'a cancelled request')
    call covey_req_free(one)
    call is(covey_isend_array(vm, me, 15, out(1:4:2), one), COVEY_EINVAL, 'covey_isend_array() of every other one')
    call subject('requests')
  end subroutine requests

  subroutine tasks()
    type(covey_spawn_t) :: what
    type(covey_words_t), target :: argv
    type(covey_place_t), allocatable :: places(:)
    type(covey_notice_t) :: notice
    type(covey_msg_t) :: msg
    type(covey_req_t) :: none(0)
    integer(covey_tid_t), allocatable :: siblings(:)
    integer(covey_tid_t) :: tids(2)
    what%argv = argv%list([character(8) :: 'sleep', '100'])
    call is(covey_spawn_count(vm, what, 2), 2, 'covey_spawn_count()')
    call check(covey_place(vm, what, 2, places) >= 1, 'covey_place()')
    call is(sum(places%tasks), 2, 'covey_place() places two')
    call check(covey_place_idle(vm, what, places) >= 1, 'covey_place_idle()')
    call is(covey_spawn(vm, what, 2, tids), 2, 'covey_spawn()')
    call is(covey_notify(vm, COVEY_NOTIFY_TASK_EXIT, 21, tids), 0, 'covey_notify()')
    call is(covey_kill(vm, tids(1)), 0, 'covey_kill()')
    call is(covey_recv(vm, COVEY_ANY_TASK, 21, soon, msg), 0, 'its notice')
    call is(covey_unpack_notice(msg, notice), 0, 'covey_unpack_notice()')
    call check(notice%exit_kind == COVEY_EXIT_SIGNAL .and. notice%value == 15, 'how it ended')
    call covey_msg_free(msg)
    call is(covey_signal(vm, tids(2), 9), 0, 'covey_signal()')
    call is(covey_wait_notice(vm, none, 21, soon, notice), 0, 'covey_wait_notice() of none')
    call check(notice%tid == tids(2) .and. notice%value == 9, 'how the other ended')
    call is(covey_siblings(vm, siblings), 1, 'covey_siblings()')
    call is(siblings(1), me, 'the only sibling')
    call subject('tasks')
  end subroutine tasks

  subroutine given()
    type(covey_spawn_t) :: what
    type(covey_words_t), target :: argv
    type(covey_msg_t) :: msg
    type(covey_end_t) :: end
    integer(covey_tid_t) :: tids(1)
    integer(c_int8_t) :: nothing(0)
    character(:), allocatable :: text
    integer(c_int) :: stream
    what%argv = argv%list(['cat'])
    what%input = 1
    what%output = COVEY_OUTPUT_SELF
    call is(covey_notify(vm, COVEY_NOTIFY_OUTPUT_END, 22), 0, 'covey_notify() of output')
    call is(covey_spawn(vm, what, 1, tids), 1, 'covey_spawn() of cat')
    call is(covey_input(vm, tids(1), 'hello'//new_line('a')), 0, 'covey_input()')
    call is(covey_input(vm, tids(1), nothing), 0, 'covey_input(): the end')
    call is(covey_recv(vm, tids(1), COVEY_TAG_OUTPUT, soon, msg), 0, 'its output')
    call is(covey_unpack_output(msg, stream, text), 0, 'covey_unpack_output()')
    call check(stream == 1 .and. text == 'hello'//new_line('a'), 'the line')
    call covey_msg_free(msg)
    call is(covey_recv(vm, COVEY_ANY_TASK, 22, soon, msg), 0, 'its end')
    call is(covey_unpack_end(msg, end), 0, 'covey_unpack_end()')
    call check(end%notice%tid == tids(1) .and. covey_text(end%command) == 'cat', 'the end of cat, '//covey_text(end%command))
    call covey_msg_free(msg)
    call subject('input and output')
  end subroutine given

  subroutine orders()
    type(covey_start_order_t), pointer :: order
    type(covey_msg_t) :: msg
    call is(covey_tasker(vm, 31), 0, 'covey_tasker()')
    call execute_command_line('covey run -n 1 --host h0 true', wait=.false.)
    call is(covey_recv(vm, COVEY_ANY_TASK, 31, soon, msg), 0, 'an order')
    call is(covey_unpack_order(msg, order), 0, 'covey_unpack_order()')
    call check(index(covey_text(order%program), 'true') > 0, 'what is ordered')
    call is(covey_order_started(vm, order%tid, 1), 0, 'covey_order_started()')
    call is(covey_order_ended(vm, order%tid, COVEY_EXIT_STATUS, 0), 0, 'covey_order_ended()')
    call covey_free(c_loc(order))
    call covey_msg_free(msg)
    call is(covey_tasker(vm, -1), 0, 'covey_tasker(): no longer')
    call subject('orders')
  end subroutine orders

  subroutine groups()
    type(covey_group_t) :: group
    type(covey_member_t), allocatable :: members(:)
    type(covey_team_t) :: team
    type(covey_msg_t) :: msg, got
    call is(covey_group_join(vm, 'fortran ', group), 0, 'covey_group_join()')
    call is(covey_group_instance(group), 0, 'covey_group_instance()')
    call is(covey_group_size(group), 1, 'covey_group_size()')
    call is(covey_group_members(vm, 'fortran', members), 1, 'covey_group_members()')
    call is(members(1)%tid, me, 'the only member')
    call is(covey_group_tid(group, 0), me, 'covey_group_tid()')
    call is(covey_group_instance_of(group, me), 0, 'covey_group_instance_of()')
    call is(covey_group_barrier(group, 1, soon), 0, 'covey_group_barrier()')
    msg = covey_msg_new()
    call is(covey_pack_string(msg, 'to all'), 0, 'covey_pack_string()')
    call is(covey_group_bcast(group, 41, msg), 0, 'covey_group_bcast()')
    call is(covey_group_cast(group, COVEY_ORDER_TOTAL, 42, msg), 0, 'covey_group_cast()')
    call is(covey_recv(vm, me, 42, soon, got), 0, 'what was cast')
    call covey_msg_free(got)
    call covey_msg_free(msg)
    call is(covey_team_of_group(group, 1, soon, team), 0, 'covey_team_of_group()')
    call covey_team_free(team)
    call is(covey_team_create(vm, [me], soon, team), 0, 'covey_team_create()')
    call covey_team_free(team)
    call is(covey_group_leave(group), 0, 'covey_group_leave()')
    call subject('groups')
  end subroutine groups
end program messages
