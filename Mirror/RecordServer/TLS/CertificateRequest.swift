internal import COpenSSL
internal import Foundation

/// What a new certificate is to say; `signed` makes it.
struct CertificateRequest {
    enum Role {
        /// May sign servers' certificates, and nothing below them.
        case authority
        /// For a TLS server under these host names and numeric addresses.
        case server(hosts: [String])
    }

    var role: Role
    var commonName: String
    /// Positive, unique under the authority.
    var serial: UInt64
    var notBefore: Date
    var days: Int

    /// Makes a certificate of `key`, signed with `issuerKey`; its own where `issuer` is nil.
    func signed(
        for key: PrivateKey, by issuerKey: PrivateKey, issuer: Certificate?
    ) throws -> Certificate {
        guard let made = X509_new() else { throw OpenSSLFault.error("make a certificate") }
        let certificate = Certificate(owning: made)
        var ok = X509_set_version(made, 2) == 1
        ok = ok && ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), serial) == 1
        ok = ok && setDates(made)
        ok = ok && setName(made)
        ok = ok && X509_set_pubkey(made, key.pointer) == 1
        let issuing = issuer?.pointer ?? made
        ok = ok && X509_set_issuer_name(made, X509_get_subject_name(issuing)) == 1
        ok = ok && extensions.allSatisfy { add($0.0, $0.1, to: made, issuer: issuing) }
        ok = ok && X509_sign(made, issuerKey.pointer, EVP_sha256()) > 0
        guard ok else { throw OpenSSLFault.error("make a certificate") }
        return certificate
    }

    private func setDates(_ made: OpaquePointer) -> Bool {
        let begin = time_t(notBefore.timeIntervalSince1970)
        return ASN1_TIME_set(X509_getm_notBefore(made), begin) != nil
            && ASN1_TIME_set(X509_getm_notAfter(made), begin + days * 86_400) != nil
    }

    private func setName(_ made: OpaquePointer) -> Bool {
        X509_NAME_add_entry_by_txt(
            X509_get_subject_name(made), "CN", MBSTRING_FLAG | 0, commonName, -1, -1, 0) == 1
    }

    private var extensions: [(Int32, String)] {
        switch role {
        case .authority:
            [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ]
        case .server(let hosts):
            [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"),
                (NID_subject_key_identifier, "hash"),
                (NID_authority_key_identifier, "keyid:always"),
                (NID_subject_alt_name, hosts.map(HostName.alternative).joined(separator: ",")),
            ]
        }
    }

    private func add(
        _ name: Int32, _ value: String, to made: OpaquePointer, issuer: OpaquePointer
    ) -> Bool {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, made, nil, nil, 0)
        guard let made3 = X509V3_EXT_conf_nid(nil, &context, name, value) else { return false }
        defer { X509_EXTENSION_free(made3) }
        return X509_add_ext(made, made3, -1) == 1
    }
}

/// Host names and numeric addresses as certificates write them.
enum HostName {
    /// Throws unless `host` is a host name or a numeric address: nothing else may enter a
    /// certificate.
    static func check(_ host: String) throws {
        let allowed = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isAddress(host) || allowed && !host.isEmpty && host.utf8.count <= 253 else {
            throw ServerError(
                .badAddress,
                "A certificate can only be made for host names and numeric addresses; "
                    + "write the host in letters, digits, dots and hyphens.",
                fields: ["host": host])
        }
    }

    static func isAddress(_ host: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
    }

    /// The host as OpenSSL's configuration language names it.
    static func alternative(_ host: String) -> String {
        isAddress(host) ? "IP:\(host)" : "DNS:\(host)"
    }
}
