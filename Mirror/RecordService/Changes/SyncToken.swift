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
    /// The digest of what was hidden from the reader (`RecordAccess.view`).
    let view: UInt64?
    /// What the reader may have of it; nil where that is nothing, and in tokens of before it was
    /// kept.
    let hidden: Hidden?

    /// Records that are hidden from a reader who may have them, from when they were not.
    struct Hidden: Hashable {
        /// The last change up to which the reader was told of all of them.
        let heard: Int64
        /// `HiddenView.marks`.
        let marks: UInt64
    }

    /// Where a reader goes on, and what the next token tells as `began` and of what is hidden.
    struct Start {
        let change: Int64
        var began: ChangeTag?
        /// The last change up to which the reader was told of what is hidden now.
        var heard: Int64?
    }

    /// The token of a reader who has seen the line's changes up to `change`.
    init(
        _ line: EpochLine, of kind: CountedPlace, change: Int64, from start: Start? = nil,
        view: HiddenView? = nil
    ) {
        self.kind = kind
        self.view = view?.digest
        incarnation = line.incarnation
        seen = line.tag(of: change)
        began = start?.began.flatMap { $0.change > change ? $0 : nil }
        hidden = start?.heard.flatMap { heard in
            guard let view, !view.hidesNothing else { return nil }
            return Hidden(heard: heard, marks: view.marks)
        }
    }

    // MARK: Text

    private static let version: UInt8 = 2
    /// With a view at its end.
    private static let versionOfViews: UInt8 = 3
    /// With what is hidden before it.
    private static let versionOfHidden: UInt8 = 4
    private static let wordsCount = 3
    private static let wordsCountOfBeginners = wordsCount + 2

    var text: String {
        let version = view == nil ? Self.version : Self.versionOfViews + (hidden == nil ? 0 : 1)
        var bytes: [UInt8] = [version, UInt8(kind.rawValue)]
        var words = [incarnation, seen.epoch, UInt64(bitPattern: seen.change)]
        if let began { words += [began.epoch, UInt64(bitPattern: began.change)] }
        if let hidden { words += [UInt64(bitPattern: hidden.heard), hidden.marks] }
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
            (Self.version...Self.versionOfHidden).contains(bytes[0]),
            let kind = CountedPlace(rawValue: Int64(bytes[1]))
        else { return nil }
        let hasHidden = bytes[0] == Self.versionOfHidden
        let hasView = hasHidden || bytes[0] == Self.versionOfViews
        let count = (bytes.count - 2) / 8 - (hasHidden ? 2 : 0) - (hasView ? 1 : 0)
        guard [Self.wordsCount, Self.wordsCountOfBeginners].contains(count) else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[2 + index * 8..<10 + index * 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.kind = kind
        incarnation = word(0)
        seen = ChangeTag(epoch: word(1), change: Int64(bitPattern: word(2)))
        hidden =
            hasHidden
            ? Hidden(heard: Int64(bitPattern: word(count)), marks: word(count + 1)) : nil
        view = hasView ? word(count + (hasHidden ? 2 : 0)) : nil
        began =
            count == Self.wordsCount
            ? nil : ChangeTag(epoch: word(3), change: Int64(bitPattern: word(4)))
    }

    // MARK: Reading on

    /// Where a reader goes on: 0 without a token. Throws CHANGE_TOKEN_EXPIRED unless `text` was
    /// given out for this place, in a time that the line knows, and nothing was forgotten since
    /// that the reader may have.
    static func place(
        in text: String?, on line: EpochLine, of kind: CountedPlace, view: HiddenView?,
        zoneID: ZoneID?
    ) throws(RecordError) -> Start {
        guard let text else { return Start(change: 0, began: line.tag(of: line.newest)) }
        guard let token = SyncToken(text: text) else {
            throw expired("is not one of this service", zoneID)
        }
        guard token.kind == kind else {
            throw expired("belongs to another kind of place", zoneID)
        }
        guard token.incarnation == line.incarnation else {
            throw expired("is of another service, or from before it was made anew", zoneID)
        }
        try checkTime(of: token.seen, on: line, zoneID)
        let began = token.began.flatMap { isKnown($0, on: line) ? $0 : nil }
        guard max(token.seen.change, began?.change ?? 0) >= line.floor else {
            throw expired(Self.isTooOld, zoneID)
        }
        guard token.view != view?.digest else {
            return Start(
                change: token.seen.change, began: began, heard: token.hidden?.heard)
        }
        return try anew(from: began ?? token.seen, token.hidden, on: line, view, zoneID)
    }

    /// Throws CHANGE_TOKEN_EXPIRED where the line does not know the change.
    static func checkTime(
        of seen: ChangeTag, on line: EpochLine, _ zoneID: ZoneID?
    ) throws(RecordError) {
        guard seen.change >= 0, isKnown(seen, on: line) else {
            throw expired(
                "is of a time that the service lost, as when it is restored from a backup", zoneID)
        }
    }

    /// Who sees other records than at the token begins once more, for the token has passed what
    /// was hidden. It has not expired: to who compares, what is hidden would look as if it was
    /// lost. But where something is shown again, what was deleted meanwhile has to be told.
    private static func anew(
        from known: ChangeTag, _ hidden: Hidden?, on line: EpochLine, _ view: HiddenView?,
        _ zoneID: ZoneID?
    ) throws(RecordError) -> Start {
        guard let hidden, hidden.marks & ~(view?.marks ?? 0) != 0 else {
            return Start(change: 0, began: known, heard: hidden?.heard ?? known.change)
        }
        let heard = min(max(0, hidden.heard), known.change)
        guard heard >= line.floor else { throw expired(Self.isTooOld, zoneID) }
        return Start(change: 0, began: line.tag(of: heard), heard: heard)
    }

    private static let isTooOld = "is older than the deletions that the service remembers"

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
