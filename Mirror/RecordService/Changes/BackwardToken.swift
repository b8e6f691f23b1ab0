internal import RecordWire

/// Where a reader stands who gets a zone's newest change first: opaque text for clients.
///
/// What changes while it reads comes behind `top`, so that whoever has reached the end goes on
/// forwards from there.
struct BackwardToken: Hashable {
    /// Where the reading ends: the token of one who goes forwards.
    let end: SyncToken
    /// The zone's newest change when it began, and the epoch that wrote it.
    let top: ChangeTag
    /// The oldest change that the reader was told of.
    let reached: Int64

    init(end: SyncToken, top: ChangeTag, reached: Int64) {
        self.end = end
        self.top = top
        self.reached = reached
    }

    // MARK: Text

    /// Far from the versions of `SyncToken`.
    private static let version: UInt8 = 64
    private static let wordsCount = 3

    var text: String {
        var bytes: [UInt8] = [Self.version]
        for word in [top.epoch, UInt64(bitPattern: top.change), UInt64(bitPattern: reached)] {
            withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return Base64URL.text(bytes + (Base64URL.bytes(end.text) ?? []))
    }

    /// nil when the text is no token of this kind.
    init?(text: String) {
        guard text.utf8.count < 200, let bytes = Base64URL.bytes(text),
            bytes.count > 1 + Self.wordsCount * 8, bytes[0] == Self.version,
            let end = SyncToken(text: Base64URL.text(bytes.dropFirst(1 + Self.wordsCount * 8)))
        else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[1 + index * 8..<9 + index * 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.end = end
        top = ChangeTag(epoch: word(0), change: Int64(bitPattern: word(1)))
        reached = Int64(bitPattern: word(2))
    }
}
