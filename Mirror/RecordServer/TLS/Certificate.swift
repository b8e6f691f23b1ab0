internal import COpenSSL
internal import Foundation

/// An X.509 certificate in OpenSSL's hands.
final class Certificate {
    let pointer: OpaquePointer

    /// Takes over an X509 of OpenSSL's.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Reads the first certificate in PEM text.
    init(pem: String) throws {
        let source = MemoryBIO(pem)
        guard let read = PEM_read_bio_X509(source.pointer, nil, nil, nil) else {
            ERR_clear_error()
            throw ServerError(
                .badCertificate, "The certificate cannot be read; give one in PEM form.")
        }
        pointer = read
    }

    deinit { X509_free(pointer) }

    func pem() throws -> String {
        let target = MemoryBIO()
        guard PEM_write_bio_X509(target.pointer, pointer) == 1 else {
            throw OpenSSLFault.error("write a certificate")
        }
        return target.text()
    }

    func belongs(to key: PrivateKey) -> Bool {
        let matches = X509_check_private_key(pointer, key.pointer) == 1
        ERR_clear_error()
        return matches
    }

    func isSigned(by authority: Certificate) -> Bool {
        let matches = X509_verify(pointer, X509_get0_pubkey(authority.pointer)) == 1
        ERR_clear_error()
        return matches
    }

    /// Whether the subject alternative names hold the host name or numeric address.
    func isFor(_ host: String) -> Bool {
        let isAddress = X509_check_ip_asc(pointer, host, 0) == 1
        ERR_clear_error()
        return isAddress || X509_check_host(pointer, host, host.utf8.count, 0, nil) == 1
    }

    /// Whether it is valid at `date` and for at least `seconds` more.
    func isValid(at date: Date, forSeconds seconds: Double) -> Bool {
        var begin = time_t(date.timeIntervalSince1970)
        var end = time_t(date.timeIntervalSince1970 + seconds)
        return X509_cmp_time(X509_get0_notBefore(pointer), &begin) < 0
            && X509_cmp_time(X509_get0_notAfter(pointer), &end) > 0
    }
}
