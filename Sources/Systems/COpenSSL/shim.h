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
static inline long diptych_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
