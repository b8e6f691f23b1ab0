#pragma once
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <microhttpd.h>

// MHD_start_daemon is variadic, which Swift cannot call: its options stand in one struct here.
struct diptych_mhd_settings {
    int listen_socket;
    unsigned int pool_size;
    unsigned int connection_limit;
    unsigned int idle_seconds;
    size_t connection_memory;
    const char *certificate_pem;  // NULL: no TLS
    const char *key_pem;
    void *context;                // handed to each callback
    MHD_AcceptPolicyCallback accept;
    MHD_AccessHandlerCallback access;
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
};

static inline struct MHD_Daemon *diptych_mhd_start(const struct diptych_mhd_settings *s) {
    struct MHD_OptionItem options[16];
    int count = 0;
#define DIPTYCH_OPTION(option, number, pointer) \
    options[count++] = (struct MHD_OptionItem) { option, (intptr_t) (number), (void *) (pointer) }
    DIPTYCH_OPTION(MHD_OPTION_LISTEN_SOCKET, s->listen_socket, 0);
    if (s->pool_size > 1) DIPTYCH_OPTION(MHD_OPTION_THREAD_POOL_SIZE, s->pool_size, 0);
    DIPTYCH_OPTION(MHD_OPTION_CONNECTION_LIMIT, s->connection_limit, 0);
    DIPTYCH_OPTION(MHD_OPTION_CONNECTION_TIMEOUT, s->idle_seconds, 0);
    DIPTYCH_OPTION(MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->connection_memory, 0);
    DIPTYCH_OPTION(MHD_OPTION_STRICT_FOR_CLIENT, 1, 0);
    DIPTYCH_OPTION(MHD_OPTION_URI_LOG_CALLBACK, s->begin, s->context);
    DIPTYCH_OPTION(MHD_OPTION_NOTIFY_COMPLETED, s->completed, s->context);
    DIPTYCH_OPTION(MHD_OPTION_NOTIFY_CONNECTION, s->connection, s->context);
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME;
    if (s->certificate_pem) {
        flags |= MHD_USE_TLS;
        DIPTYCH_OPTION(MHD_OPTION_HTTPS_MEM_CERT, 0, s->certificate_pem);
        DIPTYCH_OPTION(MHD_OPTION_HTTPS_MEM_KEY, 0, s->key_pem);
        DIPTYCH_OPTION(MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1");
    }
    DIPTYCH_OPTION(MHD_OPTION_END, 0, 0);
#undef DIPTYCH_OPTION
    return MHD_start_daemon(
        flags, 0, s->accept, s->context, s->access, s->context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// The result is a union of many meanings, variadic in its arguments.
static inline unsigned int diptych_mhd_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

static inline int diptych_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *diptych_mhd_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

// Bytes of the request line and headers, 0 when unknown.
static inline size_t diptych_mhd_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// Large bodies leave holes in the heap that the C library keeps for itself.
static inline void diptych_give_memory_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
