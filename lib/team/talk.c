/*
 * talk.c - messages between two members of a team, by rank. They are messages like any others, in a
 * context of the team's own: that of its collectives with the bit CONTEXT_TALK. So neither a
 * receive by tid nor a collective takes one, and a message by tid is none of them.
 *
 * They end with the team. When it breaks here, or is freed, its receives under way end with the
 * cause, and what came, or still comes, is for nobody. A send under way goes on; whoever is still
 * in the team gets it.
 */
#include "lib/team/talk.h"
#include "lib/collective/collective.h"

/* The way to or from the member, or the error; COVEY_ANY_RANK is for receives. */
int talk_way(covey_team_t *team, int rank, int tag, bool any, struct way *way)
{
    if (team == NULL)
        return error_set(COVEY_EINVAL, "team: NULL");
    bool from_any = any && rank == COVEY_ANY_RANK;
    if (!from_any && (rank < 0 || rank >= team->size))
        return error_set(COVEY_EINVAL, "team: there is no rank %d among %d", rank, team->size);
    *way = (struct way){.vm = team->vm,
                        .tid = from_any ? COVEY_ANY_TASK : team->tids[rank],
                        .tag = tag,
                        .context = team->context | CONTEXT_TALK,
                        .closed = &team->broken,
                        .closed_text = team->broken_text};
    return COVEY_OK;
}

/* The rank of a sender in the context of the team, which only members know. */
static int rank_of_sender(const covey_team_t *team, covey_tid_t source)
{
    int rank = covey_team_rank_of(team, source);
    return rank >= 0 ? rank
                     : error_set(COVEY_EPROTO, "team: t%x sent a message and is no member",
                                 (unsigned)source);
}

int covey_team_send(covey_team_t *team, int rank, int tag, const covey_msg_t *msg)
{
    struct way to;
    int error = talk_way(team, rank, tag, false, &to);
    return error != COVEY_OK ? error : send_message(&to, msg);
}

int covey_team_send_array(covey_team_t *team, int rank, int tag, int type, const void *base,
                          size_t count)
{
    struct way to;
    int error = talk_way(team, rank, tag, false, &to);
    return error != COVEY_OK ? error : send_array(&to, type, base, count);
}

int covey_team_isend(covey_team_t *team, int rank, int tag, covey_msg_t **msg, covey_req_t **req)
{
    struct way to;
    int error = talk_way(team, rank, tag, false, &to);
    return error != COVEY_OK ? error : isend_message(&to, msg, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_team_isend_array(covey_team_t *team, int rank, int tag, int type, const void *base,
                           size_t count, covey_req_t **req)
{
    struct way to;
    int error = talk_way(team, rank, tag, false, &to);
    return error != COVEY_OK ? error : isend_array(&to, type, base, count, req);
}

int covey_team_recv(covey_team_t *team, int rank, int tag, int64_t timeout_us, covey_msg_t **msg)
{
    struct way from;
    struct covey_info info;
    int error = talk_way(team, rank, tag, true, &from);
    if (error == COVEY_OK)
        error = receive_message(&from, timeout_us, msg);
    if (error != COVEY_OK)
        return error;
    covey_msg_info(*msg, &info);
    int sender = rank_of_sender(team, info.source);
    if (sender < 0) {
        covey_msg_free(*msg);
        *msg = NULL;
    }
    return sender;
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_team_recv_array(covey_team_t *team, int rank, int tag, int64_t timeout_us, int type,
                          void *base, size_t capacity, size_t *count)
{
    struct way from;
    struct covey_info info;
    int error = talk_way(team, rank, tag, true, &from);
    if (error == COVEY_OK)
        error = receive_array(&from, timeout_us, type, base, capacity, count, &info);
    return error != COVEY_OK ? error : rank_of_sender(team, info.source);
}

int covey_team_probe(covey_team_t *team, int rank, int tag, int64_t timeout_us,
                     struct covey_info *info)
{
    struct way from;
    struct covey_info found;
    int error = talk_way(team, rank, tag, true, &from);
    if (error == COVEY_OK)
        error = receive_probe(&from, timeout_us, &found);
    if (error == COVEY_OK && info != NULL)
        *info = found;
    return error != COVEY_OK ? error : rank_of_sender(team, found.source);
}

int covey_team_irecv(covey_team_t *team, int rank, int tag, covey_req_t **req)
{
    struct way from;
    int error = talk_way(team, rank, tag, true, &from);
    return error != COVEY_OK ? error : ireceive_message(&from, req);
}

/* NOLINTNEXTLINE(readability-function-size): the interface of covey.h */
int covey_team_irecv_array(covey_team_t *team, int rank, int tag, int type, void *base,
                           size_t capacity, covey_req_t **req)
{
    struct way from;
    int error = talk_way(team, rank, tag, true, &from);
    return error != COVEY_OK ? error : ireceive_array(&from, type, base, capacity, req);
}
