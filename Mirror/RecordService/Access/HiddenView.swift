/// What roles hide from a reader of changes.
struct HiddenView: Hashable {
    /// Tells it from every other; 0 where nothing is hidden.
    let digest: UInt64
    /// Bits for all that is hidden. A view that lacks one of another's shows something that the
    /// other hides; it may do so without lacking one, which is rare where few types are hidden.
    let marks: UInt64

    var hidesNothing: Bool { digest == 0 }

    /// `types`: which are hidden, and of which the reader's own records are not.
    init(hiding types: [(name: String, butOwn: Bool)], from user: String) throws {
        let names = types.map { "\($0.name.utf8.count) \($0.name) " }
        let texts = zip(names, types).map { $0 + ($1.butOwn ? user : "") }
        digest =
            types.isEmpty
            ? 0 : Self.word(try SecretHash.sha256(texts.joined(separator: "\n")))
        var marks: UInt64 = 0
        for (name, type) in zip(names, types) {
            marks |= try Self.mark(of: name)
            if !type.butOwn { marks |= try Self.mark(of: name + "own") }
        }
        self.marks = marks
    }

    private static func word(_ hash: some Sequence<UInt8>) -> UInt64 {
        hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static let bitsPerMark = 4

    private static func mark(of text: String) throws -> UInt64 {
        try SecretHash.sha256(text).prefix(bitsPerMark).reduce(0) { $0 | 1 << UInt64($1 % 64) }
    }
}
