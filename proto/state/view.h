/*
 * view.h - sessions: named groups of tasks with agreed membership. Every change of the membership
 * makes the next view, numbered by one more; each member is given the same views in the same order,
 * from the one by which it joined on (the membership of virtual synchrony: Birman & Joseph 1987).
 * A session keeps its last VIEW_HISTORY changes: a member that was slow or out of reach asks for
 * those since the last view it saw, and gets the whole roster when that is too long ago. One that
 * was excluded is told so, with the view and the cause as long as the history knows them.
 *
 * A session has a shared value with a version, by which a newcomer catches up; it is put only by
 * who names the version that it replaces; versions are numbers of the whole VM (state_fence()). The
 * number of a view never comes again under its name, not even when the session ended in between: it
 * may be used as a fencing number.
 *
 * The engine is view.c, view_engine in the state; this header is what its callers share with it.
 *
 *   VIEW_JOIN:  name=text -> views               ; EEXIST: a member already; ERESOURCE
 *   VIEW_LEAVE: name -> empty                    ; ENOGROUP: the asker is no member
 *   VIEW_EXPEL: name task=u32 -> number=u64      ; of the view without it. EINVAL: oneself;
 *                                                ; ENOTASK: no member; ENOGROUP
 *   VIEW_NEXT:  name seen=u64 -> views           ; when there is one after `seen`. A task waits for
 *                                                ; one session once: the last such call counts
 *   VIEW_PUT:   name version=u64 *u8 -> taken=u8 version=u64 ; the present one. ENOGROUP, EINVAL
 *   VIEW_LOOK:  name seen=u64 -> views           ; a question: VIEW_NEXT that does not wait
 *   VIEW_GET:   name -> version=u64 author=u32 view=u64 *u8  ; a question; version 0: never put
 *
 *   views    = first=u64 form=u8 count=u32 content
 *   content  = count*task=u32   ; VIEWS_ROSTER: of view `first`, in the order of joining
 *            / count*change     ; VIEWS_CHANGES: they made the views first, first + 1, ...
 *            / cause=u8         ; VIEWS_EXCLUDED by the view `first`; 0 and 0: not known any more
 *   change   = kind=u8 task=u32 ; VIEW_HOST: the tid of the host's daemon
 */
#ifndef COVEY_PROTO_VIEW_H
#define COVEY_PROTO_VIEW_H

#define VIEW_SESSIONS_MAX 1024
#define VIEW_MEMBERS_MAX 4096
#define VIEW_HISTORY 64
#define VIEW_VALUE_MAX 1024

enum view_change {
    VIEW_JOINED = 1,
    VIEW_LEFT = 2,      /* by its own will */
    VIEW_ENDED = 3,     /* the task ended */
    VIEW_HOST_LOST = 4, /* all members on a host: it left, died or was cut off */
    VIEW_EXPELLED = 5   /* by another member */
};

enum view_form { VIEWS_CHANGES = 0, VIEWS_ROSTER = 1, VIEWS_EXCLUDED = 2 };

#endif
