internal import CCurl
internal import COpenSSL

/// libcurl and OpenSSL, made ready once a process.
package enum CurlLibrary {
    /// Whether they are. A program may end while a connection is made on another thread, so OpenSSL
    /// takes nothing down at the exit; the system takes all of it.
    package static let isReady: Bool = {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
            && curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()
}
