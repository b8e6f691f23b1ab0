internal import Foundation
internal import RecordWire

/// Where a reader of changes stands: opaque text for clients, numbers for the service.
struct SyncToken: Hashable {
    /// What the token counts in.
    enum Kind: UInt8 { case zone = 1, database = 2 }

    let kind: Kind
    let service: Int64
    /// The row of the zone or database.
    let place: Int64
    let generation: Int64
    /// The last change seen.
    let change: Int64

    init(_ zone: ZoneRow, service: Int64, change: Int64) {
        kind = .zone
        self.service = service
        place = zone.id
        generation = zone.generation
        self.change = change
    }

    init(_ database: DatabaseRow?, service: Int64, change: Int64) {
        kind = .database
        self.service = service
        place = database?.id ?? 0
        generation = 0
        self.change = change
    }

    // MARK: Text

    private static let version: UInt8 = 1
    private static let bytesCount = 2 + 4 * 8

    var text: String {
        var bytes: [UInt8] = [Self.version, kind.rawValue]
        for word in [service, place, generation, change] {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return Base64URL.text(bytes)
    }

    /// nil when the text is no token of this version.
    init?(text: String) {
        guard text.utf8.count < 100, let bytes = Base64URL.bytes(text),
            bytes.count == Self.bytesCount, bytes[0] == Self.version,
            let kind = Kind(rawValue: bytes[1])
        else { return nil }
        func word(_ index: Int) -> Int64 {
            let run = bytes[2 + index * 8..<10 + index * 8]
            return Int64(bitPattern: run.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        self.kind = kind
        service = word(0)
        place = word(1)
        generation = word(2)
        change = word(3)
    }

    // MARK: Reading on

    /// The change to read on from: 0 without a token. Throws CHANGE_TOKEN_EXPIRED unless `text` was
    /// given out for this place and generation, and for no later change than its newest.
    static func change(
        in text: String?, at current: SyncToken, zoneID: ZoneID?
    ) throws(RecordError) -> Int64 {
        guard let text else { return 0 }
        guard let token = SyncToken(text: text) else {
            throw expired("is not one of this service", zoneID)
        }
        guard token.kind == current.kind, token.service == current.service,
            token.place == current.place
        else { throw expired("belongs to another \(current.kind)", zoneID) }
        guard token.generation == current.generation else {
            throw expired("is from before the zone was deleted and made again", zoneID)
        }
        guard (0...current.change).contains(token.change) else {
            throw expired("is newer than what this service remembers", zoneID)
        }
        return token.change
    }

    private static func expired(_ what: String, _ zoneID: ZoneID?) -> RecordError {
        RecordError(
            .changeTokenExpired, "The sync token \(what). Fetch from the start, without a token.",
            zoneID: zoneID)
    }
}

/// Base64 that needs no escaping in URLs, without padding. (RFC 4648 §5)
enum Base64URL {
    static func text(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func bytes(_ text: String) -> [UInt8]? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: standard + padding).map { Array($0) }
    }
}
