internal import Foundation
internal import RecordWire

/// What the address of an asset allows whoever has it, and until when.
///
/// It stands in the address, signed: the service keeps no list of what it gave out.
struct AssetGrant: Hashable {
    enum Kind: UInt8 {
        case upload = 1
        case download = 2
    }

    var kind: Kind
    var database: DatabaseKey
    /// The token it was given out for; it ends with it.
    var tokenID: String?
    /// The content to download.
    var checksum: AssetChecksum?
    /// Milliseconds since 1970.
    var expires: Int64
    /// Tells two uploads apart.
    var nonce: UInt64 = 0
    /// Who uploads, where the database is another's.
    var participant: String?

    /// Where what came of the upload waits, if it breaks off.
    var partPlace: PartPlace {
        PartPlace(owner: database.owner, uploader: participant ?? database.owner)
    }

    private static let version: UInt8 = 1
    private static let hashBytes = 32
    private static let textBytesMax = 4_000

    // MARK: Writing

    func signed(with secret: [UInt8]) -> String {
        var message: [UInt8] = [Self.version, kind.rawValue]
        for word in [UInt64(bitPattern: expires), nonce] {
            withUnsafeBytes(of: word.bigEndian) { message.append(contentsOf: $0) }
        }
        for text in [
            database.container, database.environment, database.scope, database.owner,
            tokenID ?? "", checksum?.hexDigits ?? "",
        ] + (participant.map { [$0] } ?? []) {
            let utf8 = Array(text.utf8)
            withUnsafeBytes(of: UInt16(clamping: utf8.count).bigEndian) {
                message.append(contentsOf: $0)
            }
            message += utf8
        }
        return Base64URL.text(KeyedHash.of(message, key: secret) + message)
    }

    // MARK: Reading

    /// The grant that was signed; nil for what this service did not sign. The time of the
    /// comparison tells nothing.
    init?(signed text: String, secret: [UInt8]) {
        guard text.utf8.count <= Self.textBytesMax, let bytes = Base64URL.bytes(text),
            bytes.count > Self.hashBytes
        else { return nil }
        let message = Array(bytes[Self.hashBytes...])
        let hash = KeyedHash.of(message, key: secret)
        guard SecretHash.areEqual(Data(hash), Data(bytes[..<Self.hashBytes])) else { return nil }
        self.init(message)
    }

    private init?(_ message: [UInt8]) {
        var rest = message[...]
        func word(_ count: Int) -> UInt64? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard word(1) == UInt64(Self.version),
            let kind = word(1).flatMap({ Kind(rawValue: UInt8($0)) }), let expires = word(8),
            let nonce = word(8)
        else { return nil }
        var texts: [String] = []
        while let count = word(2) {
            guard rest.count >= count else { return nil }
            texts.append(String(decoding: rest.prefix(Int(count)), as: UTF8.self))
            rest = rest.dropFirst(Int(count))
        }
        guard texts.count == 6 || texts.count == 7 else { return nil }
        self.init(
            kind: kind,
            database: DatabaseKey(
                container: texts[0], environment: texts[1], scope: texts[2], owner: texts[3]),
            tokenID: texts[4].isEmpty ? nil : texts[4],
            checksum: AssetChecksum(hexDigits: texts[5]), expires: Int64(bitPattern: expires),
            nonce: nonce)
        participant = texts.count == 7 ? texts[6] : nil
    }

    private init(
        kind: Kind, database: DatabaseKey, tokenID: String?, checksum: AssetChecksum?,
        expires: Int64, nonce: UInt64
    ) {
        self.kind = kind
        self.database = database
        self.tokenID = tokenID
        self.checksum = checksum
        self.expires = expires
        self.nonce = nonce
    }
}

extension AssetGrant {
    /// Where bytes of a new asset go, on behalf of a caller.
    static func upload(
        to database: DatabaseKey, _ caller: Caller, until expires: Int64, nonce: UInt64
    ) -> AssetGrant {
        var grant = AssetGrant(
            kind: .upload, database: database, tokenID: caller.tokenID, checksum: nil,
            expires: expires, nonce: nonce)
        if caller.userRecordName != database.owner { grant.participant = caller.userRecordName }
        return grant
    }

    /// Where the content of an asset is to be had, for a caller.
    static func download(
        _ checksum: AssetChecksum, of database: DatabaseKey, _ caller: Caller,
        until expires: Int64
    ) -> AssetGrant {
        AssetGrant(
            kind: .download, database: database, tokenID: caller.tokenID, checksum: checksum,
            expires: expires, nonce: 0)
    }
}
