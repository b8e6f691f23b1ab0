#pragma once
#include <sqlite3.h>

// Without its statistics of memory, SQLite takes no lock for each piece it allocates. Harmless where
// SQLite already runs in the process: then all stays as it is.
static inline void diptych_sqlite_configure(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// SQLITE_TRANSIENT is a cast that Swift cannot import: these copy the bytes into the statement.
static inline int diptych_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int diptych_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
