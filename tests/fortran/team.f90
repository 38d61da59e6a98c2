! team.f90 - module covey in a program of three tasks: teams, collective calls, windows, exchanges, tiled loops.
module team_callbacks
  use, intrinsic :: iso_c_binding
  use covey
  implicit none

contains

  ! The longer side of two: not commutative for its sign, which is the left one's.
  subroutine longer(left, right, result, count, type, context) bind(C)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    integer(c_int), value :: type
    real(c_double), pointer :: a(:), b(:), c(:)
    call c_f_pointer(left, a, [count])
    call c_f_pointer(right, b, [count])
    call c_f_pointer(result, c, [count])
    if (type == COVEY_DOUBLE .and. .not. c_associated(context)) c = merge(a, b, abs(a) >= abs(b))
  end subroutine longer

  ! Each point is 1 more than the one before it along both dimensions, the larger of the two.
  subroutine compute(tile, context) bind(C)
    type(c_ptr), value :: tile, context
    type(covey_tile_t) :: t
    type(covey_tile_row_t) :: row
    real(c_double), pointer :: value, above, before
    integer(c_ptrdiff_t), pointer :: offset(:)
    integer(c_int64_t) :: i
    if (c_associated(context)) return
    t%handle = tile
    do while (covey_tile_next(t, row) == 1)
      call c_f_pointer(row%offset, offset, [2])
      do i = 0, row%count - 1
        call c_f_pointer(at(row%values, i), value)
        call c_f_pointer(at(row%values, i + offset(1)), above)
        call c_f_pointer(at(row%values, i + offset(2)), before)
        value = max(above, before) + 1
      end do
    end do
  end subroutine compute

  ! The address so many doubles from another one.
  function at(base, elements) result(place)
    type(c_ptr), intent(in) :: base
    integer(c_int64_t), intent(in) :: elements
    type(c_ptr) :: place
    place = transfer(transfer(base, 0_c_intptr_t) + int(8 * elements, c_intptr_t), c_null_ptr)
  end function at
end module team_callbacks

program team_calls
  use, intrinsic :: iso_c_binding
  use covey
  use report
  use team_callbacks
  implicit none

  integer(c_int64_t), parameter :: soon = 30000000_c_int64_t
  type(covey_t) :: vm
  type(covey_team_t) :: team
  integer :: rank, n

  call is(covey_join(vm), 0, 'covey_join()')
  call making()
  call by_rank()
  call moving()
  call reducing()
  call starting()
  call windows()
  call networks()
  call exchanges()
  call tiled()
  call is(covey_barrier(team), 0, 'the last barrier')
  call covey_team_free(team)
  call covey_leave(vm)
  call ended()

contains

  subroutine done(name)
    character(*), intent(in) :: name
    call is(covey_barrier(team), 0, 'covey_barrier()')
    if (rank == 0) call subject(name)
  end subroutine done

  subroutine complete(req, what)
    type(covey_req_t), intent(inout) :: req
    character(*), intent(in) :: what
    call is(covey_wait(req, soon), 0, what)
    call covey_req_free(req)
  end subroutine complete

  subroutine making()
    type(covey_team_t) :: part
    type(covey_t) :: same
    call is(covey_team_world(vm, team), 0, 'covey_team_world()')
    rank = covey_team_rank(team)
    n = covey_team_size(team)
    call is(n, 3, 'covey_team_size()')
    call is(covey_team_tid(team, rank), covey_mytid(vm), 'covey_team_tid()')
    call is(covey_team_rank_of(team, covey_mytid(vm)), rank, 'covey_team_rank_of()')
    same = covey_team_vm(team)
    call check(c_associated(same%handle, vm%handle), 'covey_team_vm()')
    call is(covey_team_set_timeout(team, soon), 0, 'covey_team_set_timeout()')
    call is(covey_team_split(team, merge(1, 0, rank > 0), -rank, part), 0, 'covey_team_split()')
    call is(covey_team_size(part), merge(2, 1, rank > 0), 'the size of the part')
    call covey_team_free(part)
    call check(covey_algorithm('bcast', 0) /= '', 'covey_algorithm()')
    call check(covey_team_algorithm(team, 'bcast', 8_c_int64_t) /= '', 'covey_team_algorithm()')
    call check(covey_team_force(team, 'bcast', covey_algorithm('bcast', 0)) >= 0, 'covey_team_force()')
    call is(covey_team_force(team, 'bcast'), 0, 'covey_team_force() of none')
    call done('teams')
  end subroutine making

  subroutine by_rank()
    type(covey_msg_t) :: msg, got
    type(covey_req_t) :: reqs(4)
    integer(c_int), asynchronous :: mine(2), theirs(2), others(2)
    integer(c_size_t) :: count
    integer :: next, before
    next = mod(rank + 1, n)
    before = mod(rank + n - 1, n)
    mine = [rank, 10 * rank]
    msg = covey_msg_new()
    call is(covey_pack(msg, mine), 0, 'covey_pack()')
    call is(covey_team_send(team, next, 1, msg), 0, 'covey_team_send()')
    call is(covey_team_probe(team, before, 1, soon), before, 'covey_team_probe()')
    call is(covey_team_recv(team, COVEY_ANY_RANK, 1, soon, got), before, 'covey_team_recv()')
    call covey_msg_free(got)
    call is(covey_team_send_array(team, next, 2, mine), 0, 'covey_team_send_array()')
    call is(covey_team_recv_array(team, before, 2, soon, theirs, count=count), before, 'covey_team_recv_array()')
    call check(count == 2 .and. theirs(2) == 10 * before, 'what came from the rank before')
    call is(covey_team_sendrecv(team, next, before, 3, soon, msg, got), 0, 'covey_team_sendrecv()')
    call covey_msg_free(got)
    call is(covey_team_sendrecv_array(team, next, before, 4, soon, mine, theirs), 0, 'covey_team_sendrecv_array()')
    call is(theirs(1), before, 'what came then')
    call is(covey_team_irecv(team, before, 5, reqs(1)), 0, 'covey_team_irecv()')
    call is(covey_team_irecv_array(team, before, 6, others, reqs(2)), 0, 'covey_team_irecv_array()')
    call is(covey_team_isend(team, next, 5, msg, reqs(3)), 0, 'covey_team_isend()')
    call is(covey_team_isend_array(team, next, 6, mine, reqs(4)), 0, 'covey_team_isend_array()')
    call is(covey_wait_all(reqs, soon), 0, 'covey_wait_all()')
    call is(others(2), 10 * before, 'what came by a request')
    do count = 1, 4
      call covey_req_free(reqs(count))
    end do
    call done('messages by rank')
  end subroutine by_rank

  subroutine moving()
    real(c_double) :: mine(2), all(2, 0:2), part(2), table(2, 0:2)
    integer(c_size_t) :: counts(3) = [1, 2, 3], ones(3) = 1
    integer(c_int) :: parts(6), own(3)
    integer :: i
    mine = [real(rank, c_double), rank + 0.5_c_double]
    part = merge(7, 0, rank == 1)
    call is(covey_bcast(team, 1, part), 0, 'covey_bcast()')
    call check(all2(part, 7), 'what was broadcast')
    call is(covey_gather(team, 0, mine, all), 0, 'covey_gather()')
    if (rank == 0) call check(abs(all(2, 2) - 2.5) < 0.1, 'what was gathered')
    call is(covey_scatter(team, 0, all, part), 0, 'covey_scatter()')
    call check(abs(part(2) - mine(2)) < 0.1, 'what was scattered')
    call is(covey_allgather(team, mine, all), 0, 'covey_allgather()')
    call check(abs(all(1, 2) - 2) < 0.1, 'what all gathered')
    call is(covey_alltoall(team, all, table), 0, 'covey_alltoall()')
    call check(abs(table(2, 1) - mine(2)) < 0.1, 'what all got of all')
    parts = [(i, i = 1, 6)]
    own = 0
    call is(covey_scatterv(team, 0, parts, counts, own(:rank + 1)), 0, 'covey_scatterv()')
    call is(own(1), pick([1, 2, 4], rank + 1), 'what was scattered by counts')
    parts = 0
    call is(covey_gatherv(team, 0, own(:rank + 1), parts, counts), 0, 'covey_gatherv()')
    if (rank == 0) call is(parts(6), 6, 'what was gathered by counts')
    call is(covey_allgatherv(team, own(:rank + 1), parts, counts), 0, 'covey_allgatherv()')
    call is(parts(4), 4, 'what all gathered by counts')
    call is(covey_alltoallv(team, parts(1:3), ones, own, ones), 0, 'covey_alltoallv()')
    call is(own(3), rank + 1, 'what all got of all by counts')
    call done('moving arrays')
  end subroutine moving

  pure logical function all2(values, number)
    real(c_double), intent(in) :: values(:)
    integer, intent(in) :: number
    all2 = all(abs(values - number) < 0.1)
  end function all2

  pure integer function pick(numbers, i)
    integer, intent(in) :: numbers(:), i
    pick = numbers(i)
  end function pick

  subroutine reducing()
    real(c_double) :: mine(4), sum(4)
    integer(c_size_t) :: counts(3) = [1, 1, 2]
    integer :: op
    mine = rank + 1
    sum = -1
    call is(covey_reduce(team, 0, COVEY_OP_SUM, mine, sum), 0, 'covey_reduce()')
    if (rank == 0) call check(all2(sum, 6), 'the sum at the root')
    call is(covey_allreduce(team, COVEY_OP_MAX, mine, sum), 0, 'covey_allreduce()')
    call check(all2(sum, 3), 'the maximum')
    call is(covey_reduce_scatter(team, COVEY_OP_SUM, mine, sum, counts), 0, 'covey_reduce_scatter()')
    call check(all2(sum(:1), 6), 'the block of the sum')
    call is(covey_scan(team, COVEY_OP_SUM, mine, sum), 0, 'covey_scan()')
    call check(all2(sum, pick([1, 3, 6], rank + 1)), 'the sum up to the rank')
    call is(covey_exscan(team, COVEY_OP_SUM, mine, sum), 0, 'covey_exscan()')
    if (rank > 0) call check(all2(sum, pick([1, 3], rank)), 'the sum before the rank')
    op = covey_op_define(vm, longer, 1, 1_c_size_t)
    call check(op > 0, 'covey_op_define()')
    call is(covey_allreduce(team, op, -mine, sum), 0, 'covey_allreduce() of an own operation')
    call check(all2(sum, -3), 'the longest')
    call done('reductions')
  end subroutine reducing

  ! The same calls, started.
  subroutine starting()
    real(c_double), asynchronous :: mine(3), all(3, 3), part(3), own(1)
    integer(c_size_t) :: ones(3) = 1, threes(3) = 3
    type(covey_req_t) :: req
    mine = rank + 1
    all = 0
    part = mine
    call is(covey_ibarrier(team, req), 0, 'covey_ibarrier()')
    call complete(req, 'covey_ibarrier()')
    call is(covey_ibcast(team, 2, part, req), 0, 'covey_ibcast()')
    call complete(req, 'covey_ibcast()')
    call check(all2(part, 3), 'what was broadcast')
    call is(covey_igather(team, 0, mine, all, req), 0, 'covey_igather()')
    call complete(req, 'covey_igather()')
    call is(covey_iscatter(team, 0, all, part, req), 0, 'covey_iscatter()')
    call complete(req, 'covey_iscatter()')
    call check(all2(part, rank + 1), 'what was scattered')
    call is(covey_igatherv(team, 0, mine, all, threes, req), 0, 'covey_igatherv()')
    call complete(req, 'covey_igatherv()')
    call is(covey_iscatterv(team, 0, all, threes, part, req), 0, 'covey_iscatterv()')
    call complete(req, 'covey_iscatterv()')
    call check(all2(part, rank + 1), 'what was scattered by counts')
    call is(covey_iallgather(team, mine, all, req), 0, 'covey_iallgather()')
    call complete(req, 'covey_iallgather()')
    call check(all2(all(:, 3), 3), 'what all gathered')
    all = 0
    call is(covey_iallgatherv(team, mine, all, threes, req), 0, 'covey_iallgatherv()')
    call complete(req, 'covey_iallgatherv()')
    call check(all2(all(:, 2), 2), 'what all gathered by counts')
    call is(covey_ialltoall(team, mine, part, req), 0, 'covey_ialltoall()')
    call complete(req, 'covey_ialltoall()')
    call check(all2(part(3:), 3), 'what all got of all')
    call is(covey_ialltoallv(team, mine, ones, part, ones, req), 0, 'covey_ialltoallv()')
    call complete(req, 'covey_ialltoallv()')
    call is(covey_ireduce(team, 0, COVEY_OP_SUM, mine, part, req), 0, 'covey_ireduce()')
    call complete(req, 'covey_ireduce()')
    if (rank == 0) call check(all2(part, 6), 'the sum at the root')
    call is(covey_iallreduce(team, COVEY_OP_PROD, mine, part, req), 0, 'covey_iallreduce()')
    call complete(req, 'covey_iallreduce()')
    call check(all2(part, 6), 'the product')
    call is(covey_ireduce_scatter(team, COVEY_OP_SUM, mine, own, ones, req), 0, 'covey_ireduce_scatter()')
    call complete(req, 'covey_ireduce_scatter()')
    call check(all2(own, 6), 'the block of the sum')
    call is(covey_iscan(team, COVEY_OP_SUM, mine, part, req), 0, 'covey_iscan()')
    call complete(req, 'covey_iscan()')
    call is(covey_iexscan(team, COVEY_OP_SUM, mine, part, req), 0, 'covey_iexscan()')
    call complete(req, 'covey_iexscan()')
    if (rank == 2) call check(all2(part, 3), 'the sum before the rank')
    call done('collective calls that are started')
  end subroutine starting

  subroutine windows()
    type(covey_window_t) :: window
    type(c_ptr) :: base
    integer(c_int), pointer :: memory(:)
    integer(c_int) :: number
    integer(c_int), asynchronous :: got(1)
    integer(c_size_t) :: bytes
    integer :: next
    next = mod(rank + 1, n)
    call is(covey_window_create(team, 64_c_size_t, 2, base, window), 0, 'covey_window_create()')
    call c_f_pointer(base, memory, [16])
    call is(covey_window_fence(window), 0, 'covey_window_fence()')
    number = rank + 100
    call is(covey_window_lock(window, next, COVEY_LOCK_EXCLUSIVE), 0, 'covey_window_lock()')
    call is(covey_window_put(window, next, 8_c_size_t, number), 0, 'covey_window_put()')
    call is(covey_window_flush(window, next), 0, 'covey_window_flush()')
    call is(covey_window_unlock(window, next), 0, 'covey_window_unlock()')
    call is(covey_window_signal(window, next, 1), 0, 'covey_window_signal()')
    call is(covey_window_wait(window, 1, 1_c_int64_t, soon), 0, 'covey_window_wait()')
    call is(memory(3), mod(rank + 2, n) + 100, 'what was put')
    call is(covey_window_get(window, next, 8_c_size_t, got), 0, 'covey_window_get()')
    call is(covey_window_fence(window), 0, 'covey_window_fence()')
    call is(got(1), number, 'what was got')
    base = covey_window_part(window, rank, bytes)
    call check(c_associated(base) .and. bytes == 64, 'covey_window_part()')
    call is(covey_window_free(window), 0, 'covey_window_free()')
    call done('windows')
  end subroutine windows

  subroutine networks()
    type(covey_topology_t) :: topology, none
    type(covey_schedule_t) :: schedule
    real(c_double) :: made_s
    character(*), parameter :: nl = new_line('a')
    call is(covey_topology_parse('switch s'//nl//'host h0 s'//nl//'host h1 s'//nl, 'a text', topology), 0, &
            'covey_topology_parse()')
    call is(covey_team_set_topology(team, topology), 0, 'covey_team_set_topology()')
    schedule = covey_team_schedule(team, made_s)
    call check(c_associated(schedule%handle) .and. made_s >= 0, 'covey_team_schedule()')
    call is(covey_team_set_topology(team, none), 0, 'covey_team_set_topology() of none')
    if (rank == 0) then
      call is(covey_vm_set_topology(vm, topology), 0, 'covey_vm_set_topology()')
      call covey_topology_free(topology)
      call is(covey_vm_topology(vm, topology), 0, 'covey_vm_topology()')
      call is(covey_vm_set_topology(vm, none), 0, 'covey_vm_set_topology() of none')
    end if
    call covey_topology_free(topology)
    call done('the topology of a VM')
  end subroutine networks

  subroutine exchanges()
    type(covey_parcel_t) :: out(1)
    type(covey_parcel_t), pointer :: in(:)
    type(covey_exchange_plan_t) :: plan
    type(covey_exchange_info_t) :: info
    type(covey_req_t) :: req
    real(c_double), target :: mine(4), theirs(4)
    real(c_double), pointer :: got(:)
    integer :: before
    before = mod(rank + n - 1, n)
    mine = rank
    out(1)%rank = mod(rank + 1, n)
    out(1)%base = c_loc(mine)
    out(1)%count = 4
    call is(covey_exchange(team, COVEY_DOUBLE, out, in), 1, 'covey_exchange()')
    call is(in(1)%rank, before, 'from whom it came')
    call c_f_pointer(in(1)%base, got, [in(1)%count])
    call check(all2(got, before), 'what was exchanged')
    call covey_free(c_loc(in))
    call is(covey_exchange_plan(team, COVEY_DOUBLE, out, plan), 0, 'covey_exchange_plan()')
    call is(covey_exchange_incoming(plan, in), 1, 'covey_exchange_incoming()')
    call is(int(in(1)%count), 4, 'how much comes')
    call is(covey_exchange_run(plan, [c_loc(mine)], [c_loc(theirs)]), 0, 'covey_exchange_run()')
    call check(all2(theirs, before), 'what was exchanged by the plan')
    call is(covey_exchange_start(plan, [c_loc(mine)], [c_loc(theirs)], req), 0, 'covey_exchange_start()')
    call complete(req, 'covey_exchange_start()')
    call covey_exchange_info(plan, info)
    call is(int(info%runs), 2, 'covey_exchange_info()')
    call covey_exchange_free(plan)
    call done('exchanges')
  end subroutine exchanges

  subroutine tiled()
    type(covey_tiles_loop_t) :: loop
    type(covey_tiles_t) :: tiles
    type(covey_tile_t) :: part
    type(covey_tiles_plan_t) :: plan
    type(covey_tiles_timing_t) :: timing
    real(c_double) :: values(9, 20)
    type(c_ptr) :: place
    loop%dims = 2
    loop%dependences = 2
    loop%size(1:2) = [20, 9]
    loop%dependence(1:2, 1) = [1, 0]
    loop%dependence(1:2, 2) = [0, 1]
    loop%type = COVEY_DOUBLE
    loop%compute = c_funloc(compute)
    call is(covey_tiles_create(team, loop, tiles), 0, 'covey_tiles_create()')
    call is(covey_tiles_run(tiles, timing), 0, 'covey_tiles_run()')
    call check(timing%total_s > 0, 'the time that it took')
    call covey_tiles_info(tiles, plan)
    call is(plan%dims, 2, 'covey_tiles_info()')
    part = covey_tiles_part(tiles)
    call check(c_associated(part%handle) .or. rank >= plan%tasks, 'covey_tiles_part()')
    place = covey_tiles_value(tiles, [0_c_int64_t, 0_c_int64_t])
    call check(c_associated(place) .or. rank > 0, 'covey_tiles_value()')
    values = 0
    call is(covey_tiles_gather(tiles, 0, values), 0, 'covey_tiles_gather()')
    if (rank == 0) call check(abs(values(1, 1) - 1) < 0.1 .and. abs(values(9, 20) - 28) < 0.1, 'the values')
    call covey_tiles_free(tiles)
    call done('tiled loops')
  end subroutine tiled
end program team_calls
