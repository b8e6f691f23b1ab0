internal import COpenSSL
internal import Foundation
internal import RecordWire

/// What scrypt costs: as much for the service as for who guesses. Kept with each password, so that
/// a later release may ask for more.
struct PasswordCost: Hashable, Sendable {
    /// 16 MB and about a twentieth of a second.
    static let standard = PasswordCost(n: 16_384, r: 8, p: 1)

    var n: Int64
    var r: Int64
    var p: Int64

    /// What a row says must not take all memory or time.
    fileprivate var isBearable: Bool {
        n > 1 && n.nonzeroBitCount == 1 && (1...32).contains(r) && (1...16).contains(p)
            && n <= 1 << 20 && n * r <= 1 << 20
    }

    fileprivate var memoryBytesMax: UInt64 { UInt64(128 * r * (n + p + 2)) + 1_048_576 }
}

/// A password as it is kept: hashed by scrypt (RFC 7914).
struct PasswordHash: Hashable, Sendable {
    var salt: Data
    var hash: Data
    var cost: PasswordCost

    static let saltBytes = 16
    private static let hashBytes = 32

    /// Throws INTERNAL_ERROR where OpenSSL cannot, or there is no memory.
    init(
        of password: String, salt: [UInt8], cost: PasswordCost = .standard
    ) throws(RecordError) {
        guard cost.isBearable else { throw Self.failed }
        // Composed, so that the same letters from another keyboard are the same password.
        let text = Array(password.precomposedStringWithCanonicalMapping.utf8)
            .map { CChar(bitPattern: $0) }
        var bytes = [UInt8](repeating: 0, count: Self.hashBytes)
        let done = EVP_PBE_scrypt(
            text, text.count, salt, salt.count, UInt64(cost.n), UInt64(cost.r), UInt64(cost.p),
            cost.memoryBytesMax, &bytes, bytes.count)
        guard done == 1 else {
            ERR_clear_error()
            throw Self.failed
        }
        (self.salt, hash, self.cost) = (Data(salt), Data(bytes), cost)
    }

    init(salt: Data, hash: Data, cost: PasswordCost) {
        (self.salt, self.hash, self.cost) = (salt, hash, cost)
    }

    /// Whether it is the hash of the password; its time tells nothing of the answer.
    func fits(_ password: String) throws(RecordError) -> Bool {
        let tried = try PasswordHash(of: password, salt: Array(salt), cost: cost)
        return SecretHash.areEqual(tried.hash, hash)
    }

    private static let failed = RecordError(
        .internalError, "OpenSSL cannot compute scrypt on this machine, or lacks memory.")
}
