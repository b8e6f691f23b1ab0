#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// What OpenSSL spells as macros or variadic functions, which Swift cannot import.
static inline EVP_PKEY *diptych_new_p256_key(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}
// The functions that take no look-up of a method, which takes longer than a short message's digest.
static inline void diptych_sha256(const void *message, size_t count, unsigned char *digest) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, message, count);
    SHA256_Final(digest, &context);
}
static inline long diptych_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
