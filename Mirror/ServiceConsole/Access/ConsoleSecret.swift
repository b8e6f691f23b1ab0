internal import Foundation
internal import RecordService
internal import RecordWire

/// Secrets of sessions are kept and compared by their hashes.
enum ConsoleSecret {
    /// What a session is found by.
    static func key(of secret: String) throws(RecordError) -> String {
        try hash(secret).base64EncodedString()
    }

    static func areEqual(_ one: String, _ other: String) throws(RecordError) -> Bool {
        SecretHash.areEqual(try hash(one), try hash(other))
    }

    private static func hash(_ text: String) throws(RecordError) -> Data {
        do {
            return try SecretHash.sha256(text)
        } catch {
            throw RecordError(.internalError, "The machine cannot hash a secret.")
        }
    }
}
