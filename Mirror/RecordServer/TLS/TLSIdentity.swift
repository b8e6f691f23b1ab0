/// What a TLS server shows its clients: a certificate and the key to it, both as PEM text.
public struct TLSIdentity: Hashable, Sendable {
    /// The server's certificate, followed by those between it and an authority.
    public var certificatePEM: String
    public var keyPEM: String

    public init(certificatePEM: String, keyPEM: String) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
    }

    /// Throws a `ServerError` unless both can be read and belong together.
    func check() throws {
        let certificate = try Certificate(pem: certificatePEM)
        let key = try PrivateKey(pem: keyPEM)
        guard certificate.belongs(to: key) else {
            throw ServerError(
                .badCertificate,
                "The certificate is for another key; give the key it was made with.")
        }
    }
}
