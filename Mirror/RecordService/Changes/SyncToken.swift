internal import Foundation
internal import RecordWire

/// Where a reader of changes stands: opaque text for clients, numbers for the service.
struct SyncToken: Hashable {
    let kind: CountedPlace
    /// The zone or database, as it was made.
    let incarnation: UInt64
    /// The last change seen, and the epoch that wrote it.
    let seen: ChangeTag
    /// The newest change when the reader began without a token, until that is reached: what was
    /// deleted before, this reader never had.
    let began: ChangeTag?

    /// The token of a reader who has seen the line's changes up to `change`.
    init(_ line: EpochLine, of kind: CountedPlace, change: Int64, began: ChangeTag? = nil) {
        self.kind = kind
        incarnation = line.incarnation
        seen = line.tag(of: change)
        self.began = began.flatMap { $0.change > change ? $0 : nil }
    }

    // MARK: Text

    private static let version: UInt8 = 2
    private static let bytesCount = 2 + 3 * 8
    private static let bytesCountOfBeginners = bytesCount + 2 * 8

    var text: String {
        var bytes: [UInt8] = [Self.version, UInt8(kind.rawValue)]
        var words = [incarnation, seen.epoch, UInt64(bitPattern: seen.change)]
        if let began { words += [began.epoch, UInt64(bitPattern: began.change)] }
        for word in words {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return Base64URL.text(bytes)
    }

    /// nil when the text is no token of this version.
    init?(text: String) {
        guard text.utf8.count < 100, let bytes = Base64URL.bytes(text),
            [Self.bytesCount, Self.bytesCountOfBeginners].contains(bytes.count),
            bytes[0] == Self.version,
            let kind = CountedPlace(rawValue: Int64(bytes[1]))
        else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[2 + index * 8..<10 + index * 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.kind = kind
        incarnation = word(0)
        seen = ChangeTag(epoch: word(1), change: Int64(bitPattern: word(2)))
        began =
            bytes.count == Self.bytesCount
            ? nil : ChangeTag(epoch: word(3), change: Int64(bitPattern: word(4)))
    }

    // MARK: Reading on

    /// Where a reader goes on: 0 without a token, and what the next token tells as `began`. Throws
    /// CHANGE_TOKEN_EXPIRED unless `text` was given out for this place, in a time that the line
    /// knows, and nothing was forgotten since that the reader may have.
    static func place(
        in text: String?, on line: EpochLine, of kind: CountedPlace, zoneID: ZoneID?
    ) throws(RecordError) -> (change: Int64, began: ChangeTag?) {
        guard let text else { return (0, line.tag(of: line.newest)) }
        guard let token = SyncToken(text: text) else {
            throw expired("is not one of this service", zoneID)
        }
        guard token.kind == kind else {
            throw expired("belongs to another kind of place", zoneID)
        }
        guard token.incarnation == line.incarnation else {
            throw expired("is of another service, or from before it was made anew", zoneID)
        }
        guard token.seen.change >= 0, isKnown(token.seen, on: line) else {
            throw expired(
                "is of a time that the service lost, as when it is restored from a backup", zoneID)
        }
        let began = token.began.flatMap { isKnown($0, on: line) ? $0 : nil }
        guard max(token.seen.change, began?.change ?? 0) >= line.floor else {
            throw expired("is older than the deletions that the service remembers", zoneID)
        }
        return (token.seen.change, began)
    }

    /// Whether the line has the change, in the same epoch. What no epoch has is older than all that
    /// the line remembers: it was there before, also in a time that was lost since.
    private static func isKnown(_ tag: ChangeTag, on line: EpochLine) -> Bool {
        tag.change == 0 || tag.change <= line.newest && line.tag(of: tag.change) == tag
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
        let standard = Data(bytes).base64EncodedData().lazy.filter { $0 != UInt8(ascii: "=") }
        let text = standard.map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func bytes(_ text: String) -> [UInt8]? {
        var standard = Data(
            text.utf8.map { byte in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            })
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: standard).map { Array($0) }
    }
}
