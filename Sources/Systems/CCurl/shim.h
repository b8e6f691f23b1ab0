#pragma once
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <curl/curl.h>

// curl_easy_setopt and friends are variadic, which Swift cannot call: one inline function a kind of value.
static inline CURLcode diptych_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode diptych_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode diptych_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}
typedef size_t (*diptych_curl_data_callback)(char *bytes, size_t size, size_t count, void *context);
static inline CURLcode diptych_curl_set_callback(CURL *handle, CURLoption option, diptych_curl_data_callback callback) {
    return curl_easy_setopt(handle, option, callback);
}
static inline CURLcode diptych_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode diptych_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
typedef int (*diptych_curl_progress_callback)(
    void *context, curl_off_t to_receive, curl_off_t received, curl_off_t to_send, curl_off_t sent);
static inline CURLcode diptych_curl_set_progress(CURL *handle, diptych_curl_progress_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, callback);
}
static inline CURLcode diptych_curl_set_debug(CURL *handle, curl_debug_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback);
}

// Performs with SIGPIPE held back in this thread: a peer that closes must not end the process, and the
// process's own handling of the signal is not ours to change.
static inline CURLcode diptych_curl_perform(CURL *handle) {
    sigset_t pipe, old, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    int was_pending = sigismember(&pending, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &old);
    CURLcode code = curl_easy_perform(handle);
    struct timespec none = {0, 0};
    if (!was_pending) while (sigtimedwait(&pipe, NULL, &none) == SIGPIPE) {}
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return code;
}
