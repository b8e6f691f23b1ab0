#pragma once
#include <sqlite3.h>

// Without its statistics of memory, SQLite takes no lock for each piece it allocates. Harmless where
// SQLite already runs in the process: then all stays as it is.
static inline void diptych_sqlite_configure(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    // Copies of pages that a statement or a savepoint would put back stay in memory up to so many
    // bytes. More cannot be: they go to their file in one piece, and SQLite writes no piece of more
    // than 0x1FFFF bytes (seekAndWriteFd in os_unix.c): it says that the disk is full.
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, 0x1FFFF);
}

// A file may come from a stranger: its schema may call nothing but what is declared harmless, names no
// view in a table's place, and is never written directly; pages are looked over when they are read.
// Source: <https://www.sqlite.org/security.html>. Fails only where a switch is unknown to an older
// SQLite, which then works as it always did.
static inline void diptych_sqlite_distrust(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
    sqlite3_exec(database, "PRAGMA cell_size_check = ON", 0, 0, 0);
    sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 100);
    // One is for VACUUM.
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 1);
}

// SQLITE_TRANSIENT is a cast that Swift cannot import: these copy the bytes into the statement.
static inline int diptych_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int diptych_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
