#pragma once
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <gnutls/gnutls.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>

// The certificate and key a server shows at each handshake. They are exchanged while it runs; those of
// before stay until its end, since a handshake under way may still look at them.
struct diptych_tls_identity {
    gnutls_pcert_st certificates[16];
    unsigned int count;
    gnutls_privkey_t key;
    struct diptych_tls_identity *former;
};

struct diptych_tls_slot {
    struct diptych_tls_identity *current;
};

static inline struct diptych_tls_slot *diptych_tls_make(void) {
    return (struct diptych_tls_slot *) calloc(1, sizeof(struct diptych_tls_slot));
}

static inline void diptych_tls_free_identity(struct diptych_tls_identity *identity) {
    for (unsigned int i = 0; i < identity->count; i++) gnutls_pcert_deinit(&identity->certificates[i]);
    if (identity->key) gnutls_privkey_deinit(identity->key);
    free(identity);
}

static inline void diptych_tls_free(struct diptych_tls_slot *slot) {
    if (!slot) return;
    struct diptych_tls_identity *identity = slot->current;
    while (identity) {
        struct diptych_tls_identity *former = identity->former;
        diptych_tls_free_identity(identity);
        identity = former;
    }
    free(slot);
}

// Puts another identity into the slot; 0, or an error of GnuTLS's, after which the former one stays.
static inline int diptych_tls_set(
    struct diptych_tls_slot *slot, const char *certificate_pem, const char *key_pem) {
    struct diptych_tls_identity *made =
        (struct diptych_tls_identity *) calloc(1, sizeof(struct diptych_tls_identity));
    if (!slot || !made) {
        free(made);
        return GNUTLS_E_MEMORY_ERROR;
    }
    gnutls_datum_t certificate = { (unsigned char *) certificate_pem, (unsigned int) strlen(certificate_pem) };
    gnutls_datum_t key = { (unsigned char *) key_pem, (unsigned int) strlen(key_pem) };
    unsigned int count = sizeof(made->certificates) / sizeof(made->certificates[0]);
    int status = gnutls_pcert_list_import_x509_raw(
        made->certificates, &count, &certificate, GNUTLS_X509_FMT_PEM, 0);
    if (status >= 0) {
        made->count = count;
        status = gnutls_privkey_init(&made->key);
    }
    if (status >= 0)
        status = gnutls_privkey_import_x509_raw(made->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (status < 0) {
        diptych_tls_free_identity(made);
        return status;
    }
    made->former = slot->current;
    __atomic_store_n(&slot->current, made, __ATOMIC_RELEASE);
    return 0;
}

// What GnuTLS asks at a handshake.
static inline int diptych_tls_choose(
    gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
    const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **certificates,
    unsigned int *count, gnutls_privkey_t *key) {
    (void) authorities, (void) authority_count, (void) algorithms, (void) algorithm_count;
    struct diptych_tls_slot *slot = (struct diptych_tls_slot *) gnutls_session_get_ptr(session);
    struct diptych_tls_identity *identity =
        slot ? __atomic_load_n(&slot->current, __ATOMIC_ACQUIRE) : NULL;
    if (!identity) return -1;
    *certificates = identity->certificates;
    *count = identity->count;
    *key = identity->key;
    return 0;
}

// MHD_start_daemon is variadic, which Swift cannot call: its options stand in one struct here.
struct diptych_mhd_settings {
    unsigned int connection_limit;
    unsigned int idle_seconds;
    size_t connection_memory;
    int is_tls;                   // each connection is bound to a slot then
    void *context;                // handed to each callback
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
    DIPTYCH_OPTION(MHD_OPTION_CONNECTION_LIMIT, s->connection_limit, 0);
    DIPTYCH_OPTION(MHD_OPTION_CONNECTION_TIMEOUT, s->idle_seconds, 0);
    DIPTYCH_OPTION(MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->connection_memory, 0);
    // The library's own 400 (no Host, or a length that is no number) has its head twice, the second
    // as its body, and closes: 0.9.75 builds the queued answer once more. Only 0 here would avoid
    // the first, and lets pass other heads and chunks that two readers read differently.
    DIPTYCH_OPTION(MHD_OPTION_STRICT_FOR_CLIENT, 1, 0);
    DIPTYCH_OPTION(MHD_OPTION_URI_LOG_CALLBACK, s->begin, s->context);
    DIPTYCH_OPTION(MHD_OPTION_NOTIFY_COMPLETED, s->completed, s->context);
    DIPTYCH_OPTION(MHD_OPTION_NOTIFY_CONNECTION, s->connection, s->context);
    // Connections are added by who takes them from the listening socket.
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME
        | MHD_USE_NO_LISTEN_SOCKET;
    if (s->is_tls) {
        flags |= MHD_USE_TLS;
        DIPTYCH_OPTION(MHD_OPTION_HTTPS_CERT_CALLBACK, 0, diptych_tls_choose);
        DIPTYCH_OPTION(MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1");
    }
    DIPTYCH_OPTION(MHD_OPTION_END, 0, 0);
#undef DIPTYCH_OPTION
    return MHD_start_daemon(
        flags, 0, NULL, NULL, s->access, s->context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
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

// Before the handshake of a new connection. The library itself reads the pointer only for shared keys.
static inline void diptych_mhd_bind_tls(struct MHD_Connection *connection, struct diptych_tls_slot *slot) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    if (info && info->tls_session) gnutls_session_set_ptr((gnutls_session_t) info->tls_session, slot);
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

// Linux's own, which its header shows to GNU sources alone.
int accept4(int listening, struct sockaddr *address, socklen_t *size, int flags);

// The next connection that waits at a listening socket; inherited by no program that is started.
static inline int diptych_accept(int listening, struct sockaddr *address, socklen_t *size) {
    return accept4(listening, address, size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
