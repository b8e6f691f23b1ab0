internal import COpenSSL
internal import Foundation

/// A private key in OpenSSL's hands.
final class PrivateKey {
    let pointer: OpaquePointer

    /// Makes a new key on the curve P-256.
    init() throws {
        guard let pointer = diptych_new_p256_key() else { throw OpenSSLFault.error("make a key") }
        self.pointer = pointer
    }

    /// Reads an unencrypted key out of PEM text.
    init(pem: String) throws {
        let source = MemoryBIO(pem)
        // Without a callback of ours OpenSSL would ask for a passphrase on the terminal.
        let key = PEM_read_bio_PrivateKey(source.pointer, nil, { _, _, _, _ in -1 }, nil)
        guard let key else {
            ERR_clear_error()
            throw ServerError(
                .badKey,
                "The private key cannot be read; give an unencrypted key in PEM form.")
        }
        pointer = key
    }

    deinit { EVP_PKEY_free(pointer) }

    func pem() throws -> String {
        let target = MemoryBIO()
        let status = PEM_write_bio_PKCS8PrivateKey(target.pointer, pointer, nil, nil, 0, nil, nil)
        guard status == 1 else { throw OpenSSLFault.error("write a key") }
        return target.text()
    }
}

/// A piece of memory that OpenSSL reads from or writes to.
final class MemoryBIO {
    let pointer: OpaquePointer?

    init() { pointer = BIO_new(BIO_s_mem()) }

    init(_ text: String) {
        pointer = BIO_new(BIO_s_mem())
        let bytes = Array(text.utf8)
        BIO_write(pointer, bytes, Int32(clamping: bytes.count))
    }

    deinit { BIO_free(pointer) }

    func text() -> String {
        var bytes: UnsafeMutablePointer<CChar>?
        let count = diptych_bio_bytes(pointer, &bytes)
        guard let bytes, count > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}

/// What OpenSSL says about its last failure on this thread.
enum OpenSSLFault {
    static func error(_ action: String) -> ServerError {
        let number = ERR_get_error()
        ERR_clear_error()
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(number, &text, text.count)
        let reason = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        return ServerError(
            .cryptography, "OpenSSL could not \(action); look at its reason in the fields.",
            fields: ["reason": reason])
    }
}
