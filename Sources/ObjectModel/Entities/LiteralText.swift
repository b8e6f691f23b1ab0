/// A text that equals another where their bytes do, as `NSString` and SQLite compare.
///
/// Swift's own comparison takes "é" as one scalar and as two for the same; as the key of a
/// dictionary of what users wrote, one of the two would be lost.
package struct LiteralText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: LiteralText, right: LiteralText) -> Bool {
        left.text.utf8.count == right.text.utf8.count
            && left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
