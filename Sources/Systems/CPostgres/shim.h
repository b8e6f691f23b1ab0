#pragma once
#include <libpq-fe.h>

// The fields of an error are characters, which Swift does not import.
static inline const char *diptych_pg_state(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}
static inline const char *diptych_pg_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

// Notices of the server go nowhere: libpq would print them.
static inline void diptych_pg_ignore_notices(void *nothing, const PGresult *result) {
    (void)nothing;
    (void)result;
}
static inline void diptych_pg_be_quiet(PGconn *connection) {
    PQsetNoticeReceiver(connection, diptych_pg_ignore_notices, 0);
}
