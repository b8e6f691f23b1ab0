internal import CMicroHTTPD

/// The certificate and key that one server shows now; another may be put in while it runs.
final class TLSSlot: @unchecked Sendable {
    // @unchecked: who serves reads the pointer's content by one atomic load; writers take turns
    // by the server's lock.
    private let slot = diptych_tls_make()

    deinit { diptych_tls_free(slot) }

    /// Handshakes from now on show `identity`; connections that are open stay as they are. Throws a
    /// `ServerError` for what cannot be used, after which the former one stays.
    func set(_ identity: TLSIdentity) throws {
        try identity.check()
        let status = identity.certificatePEM.withCString { certificate in
            identity.keyPEM.withCString { diptych_tls_set(slot, certificate, $0) }
        }
        guard status == 0 else {
            throw ServerError(
                .badCertificate, "The TLS library cannot use the certificate or its key.",
                fields: ["reason": String(cString: gnutls_strerror(status))])
        }
    }

    /// Lets a new connection show what is in the slot. Before its handshake.
    func bind(_ connection: OpaquePointer) { diptych_mhd_bind_tls(connection, slot) }
}
