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
    /// What was hidden from the reader (`RecordAccess.view`).
    let view: UInt64?

    /// The token of a reader who has seen the line's changes up to `change`.
    init(
        _ line: EpochLine, of kind: CountedPlace, change: Int64, began: ChangeTag? = nil,
        view: UInt64? = nil
    ) {
        self.kind = kind
        self.view = view
        incarnation = line.incarnation
        seen = line.tag(of: change)
        self.began = began.flatMap { $0.change > change ? $0 : nil }
    }

    // MARK: Text

    private static let version: UInt8 = 2
    /// With a view at its end.
    private static let versionOfViews: UInt8 = 3
    private static let wordsCount = 3
    private static let wordsCountOfBeginners = wordsCount + 2

    var text: String {
        let version = view == nil ? Self.version : Self.versionOfViews
        var bytes: [UInt8] = [version, UInt8(kind.rawValue)]
        var words = [incarnation, seen.epoch, UInt64(bitPattern: seen.change)]
        if let began { words += [began.epoch, UInt64(bitPattern: began.change)] }
        if let view { words.append(view) }
        for word in words {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return Base64URL.text(bytes)
    }

    /// nil when the text is no token of this version.
    init?(text: String) {
        guard text.utf8.count < 100, let bytes = Base64URL.bytes(text),
            bytes.count >= 2, (bytes.count - 2).isMultiple(of: 8),
            [Self.version, Self.versionOfViews].contains(bytes[0]),
            let kind = CountedPlace(rawValue: Int64(bytes[1]))
        else { return nil }
        let hasView = bytes[0] == Self.versionOfViews
        let count = (bytes.count - 2) / 8 - (hasView ? 1 : 0)
        guard [Self.wordsCount, Self.wordsCountOfBeginners].contains(count) else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[2 + index * 8..<10 + index * 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.kind = kind
        incarnation = word(0)
        seen = ChangeTag(epoch: word(1), change: Int64(bitPattern: word(2)))
        view = hasView ? word(count) : nil
        began =
            count == Self.wordsCount
            ? nil : ChangeTag(epoch: word(3), change: Int64(bitPattern: word(4)))
    }

    // MARK: Reading on

    /// Where a reader goes on: 0 without a token, and what the next token tells as `began`. Throws
    /// CHANGE_TOKEN_EXPIRED unless `text` was given out for this place, in a time that the line
    /// knows, and nothing was forgotten since that the reader may have.
    ///
    /// Who sees other records than at the token begins once more, for the token has passed what
    /// was hidden. It has not expired: to who compares, what is hidden would look as if it was
    /// lost.
    static func place(
        in text: String?, on line: EpochLine, of kind: CountedPlace, view: UInt64?,
        zoneID: ZoneID?
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
        guard token.view == view else { return (0, began ?? token.seen) }
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
