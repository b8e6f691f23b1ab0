#pragma once
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
