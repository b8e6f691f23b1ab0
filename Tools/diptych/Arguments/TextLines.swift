internal import Foundation

/// The lines of files that people write by hand, on whatever system: secrets and settings are read
/// by no other way.
///
/// To Swift a carriage return with its line feed is one character, which is no line feed; so lines
/// are found among the bytes.
enum TextLines {
    /// Each line without its one ending, LF or CRLF; what follows the last ending too, if it is
    /// nothing.
    static func all(of text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0)) }
    }

    /// The first line; nil where the bytes are no UTF-8, or it is empty.
    static func first(of data: Data) -> String? {
        guard let text = String(data: data, encoding: .utf8), let line = all(of: text).first,
            !line.isEmpty
        else { return nil }
        return line
    }
}
