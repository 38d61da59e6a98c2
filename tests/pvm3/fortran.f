!     fortran.f - PVM's calls from Fortran: of the task alone, and with a
!     copy of itself that adds up numbers. It prints no tids.
      program fortran
      include 'fpvm3.h'
      integer tid, parent
      call pvmfmytid(tid)
      call pvmfparent(parent)
      if (parent .gt. 0) then
          call child(parent)
      else
          call alone(tid)
          call lists(tid)
          call boxes()
          call handled(tid)
          call two()
      end if
      call pvmfexit(tid)
      end

      subroutine alone(tid)
      include 'fpvm3.h'
      integer tid, info, bufid, bytes, tag, from, i(3), j(3)
      integer*2 s(2), t(2)
      real r(2), q(2)
      double precision d(2), e(2)
      complex c, k
      character*12 text
      data i/1, 2, 3/, s/-4, 5/, r/1.5, 2.5/, d/3.5d0, 4.5d0/
      c = (1.0, -2.0)
      call pvmfinitsend(PVMDEFAULT, bufid)
      print *, 'initsend', bufid .gt. 0
      call pvmfpack(INTEGER4, i, 3, 1, info)
      print *, 'integer4', info
      call pvmfpack(INTEGER2, s, 2, 1, info)
      call pvmfpack(REAL4, r, 2, 1, info)
      call pvmfpack(REAL8, d, 2, 1, info)
      call pvmfpack(COMPLEX8, c, 1, 1, info)
      call pvmfpack(STRING, 'some text', 9, 1, info)
      print *, 'string', info
      call pvmfpack(99, i, 1, 1, info)
      print *, 'no type', info
      call pvmfsend(tid, 7, info)
      print *, 'send', info
      call pvmfrecv(-1, 7, bufid)
      call pvmfbufinfo(bufid, bytes, tag, from, info)
      print *, 'bufinfo', bytes, tag, from .eq. tid, info
      call pvmfunpack(INTEGER4, j, 3, 1, info)
      call pvmfunpack(INTEGER2, t, 2, 1, info)
      call pvmfunpack(REAL4, q, 2, 1, info)
      call pvmfunpack(REAL8, e, 2, 1, info)
      call pvmfunpack(COMPLEX8, k, 1, 1, info)
      text = ' '
      call pvmfunpack(STRING, text, 9, 1, info)
      print *, j, t, q, e, k, text, info
      call pvmfsetopt(PVMAUTOERR, 0, info)
      print *, 'autoerr', info
      call pvmfunpack(INTEGER4, j, 1, 1, info)
      print *, 'nothing left', info
      call pvmfsetopt(PVMAUTOERR, 1, info)
      call pvmfnrecv(-1, 9, bufid)
      call pvmfprobe(-1, 9, info)
      print *, 'nothing there', bufid, info
      call pvmftrecv(-1, 9, 0, 1000, bufid)
      print *, 'nor in time', bufid
      end

      subroutine lists(tid)
      include 'fpvm3.h'
      integer tid, hosts, formats, host, speed, info, code, count
      integer own, parent, at, flag
      character*32 name
      character*12 arch
      character*64 program
      call pvmfconfig(hosts, formats, host, name, arch, speed, info)
      print *, 'config', hosts, formats, host, arch, speed, info
      call pvmfmstat(name, info)
      print *, 'mstat', info
      call pvmfarchcode('LINUX64', code)
      print *, 'archcode', code
      call pvmftasks(tid, count, own, parent, at, flag, program, info)
      print *, 'tasks', count, own .eq. tid, at, info
      call pvmftidtohost(tid, host)
      print *, 'tidtohost', host
      call pvmfpstat(tid, info)
      print *, 'pstat', info
      end

      subroutine boxes()
      include 'fpvm3.h'
      integer index, bufid, i, info
      i = 77
      call pvmfinitsend(PVMDEFAULT, bufid)
      call pvmfpack(INTEGER4, i, 1, 1, info)
      call pvmfputinfo('fortran.box', bufid, PVMMBOXDEFAULT, index)
      print *, 'putinfo', index
      i = 0
      call pvmfrecvinfo('fortran.box  ', 0, PVMMBOXDEFAULT, bufid)
      call pvmfunpack(INTEGER4, i, 1, 1, info)
      print *, 'recvinfo', bufid .gt. 0, i
      call pvmfdelinfo('fortran.box', 0, PVMMBOXDEFAULT, info)
      print *, 'delinfo', info
      call pvmfrecvinfo('fortran.box', 0, PVMMBOXDEFAULT, bufid)
      print *, 'recvinfo', bufid
      end

!     A handler gets its bufid by value, and so looks at nothing here.
      integer function handler(bufid)
      integer bufid
      print *, 'the handler is called'
      handler = 0
      end

      subroutine handled(tid)
      include 'fpvm3.h'
      external handler
      integer tid, number, bufid, info, sec, usec, dsec, dusec
      call pvmfaddmhf(-1, 77, 0, 0, handler, number)
      print *, 'addmhf', number
      call pvmfinitsend(PVMDEFAULT, bufid)
      call pvmfsend(tid, 77, info)
      call pvmftrecv(-1, 77, 0, 200000, bufid)
      print *, 'trecv', bufid
      call pvmfdelmhf(number, info)
      print *, 'delmhf', info
      call pvmfhostsync(262144, sec, usec, dsec, dusec, info)
      print *, 'hostsync', sec .gt. 0, usec .ge. 0, dusec .ge. 0, info
      end

      subroutine two()
      include 'fpvm3.h'
      external pvmsum
      integer tids(1), count, instance, info, size, i(3), all(6), bytes
      integer from, tag
      character*1024 path
      call get_command_argument(0, path)
      call pvmfjoingroup('fortran.group', instance)
      print *, 'joingroup', instance
      call pvmfspawn(path, PVMDEFAULT, '*', 1, tids, count)
      print *, 'spawn', count
      call pvmfbarrier('fortran.group', 2, info)
      print *, 'barrier', info
      call pvmfgsize('fortran.group', size)
      print *, 'gsize', size
      call pvmfgetinst('fortran.group', tids(1), instance)
      print *, 'getinst', instance
      call pvmfgettid('fortran.group', 1, from)
      print *, 'gettid', from .eq. tids(1)
      i(1) = 1
      i(2) = 2
      i(3) = 3
      call pvmfreduce(pvmsum, i, 3, INTEGER4, 5, 'fortran.group', 0,
     &                info)
      print *, 'reduce', i, info
      call pvmfgather(all, i, 3, INTEGER4, 6, 'fortran.group', 0, info)
      print *, 'gather', all, info
      call pvmfscatter(i, all, 3, INTEGER4, 7, 'fortran.group', 0, info)
      print *, 'scatter', i, info
      call pvmfpsend(tids(1), 8, i, 3, INTEGER4, info)
      print *, 'psend', info
      call pvmfprecv(-1, 9, i, 3, INTEGER4, from, tag, bytes, info)
      print *, 'precv', i, tag, bytes, from .eq. tids(1), info
      call pvmfbarrier('fortran.group', 2, info)
      call pvmflvgroup('fortran.group', info)
      print *, 'lvgroup', info
      end

      subroutine child(parent)
      include 'fpvm3.h'
      external pvmsum
      integer parent, instance, info, i(3), all(6), from, tag, bytes
      data i/10, 20, 30/
      call pvmfjoingroup('fortran.group', instance)
      call pvmfbarrier('fortran.group', 2, info)
      call pvmfreduce(pvmsum, i, 3, INTEGER4, 5, 'fortran.group', 0,
     &                info)
      call pvmfgather(all, i, 3, INTEGER4, 6, 'fortran.group', 0, info)
      call pvmfscatter(i, all, 3, INTEGER4, 7, 'fortran.group', 0, info)
      call pvmfprecv(parent, 8, all, 3, INTEGER4, from, tag, bytes,
     &               info)
      i(1) = i(1) + all(1)
      call pvmfpsend(parent, 9, i, 3, INTEGER4, info)
      call pvmfbarrier('fortran.group', 2, info)
      call pvmflvgroup('fortran.group', info)
      end
