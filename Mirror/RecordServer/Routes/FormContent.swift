internal import Foundation
internal import RecordWire

/// The first part of a form, which is the file that comes in it: so do pages of browsers and some
/// clients send it. (RFC 7578)
final class FormContent: @unchecked Sendable {
    // @unchecked: belongs to the connection that brings the bytes, whose calls come one by one.
    private enum Place { case before, head, content, after }

    private let delimiter: Data
    private var place = Place.before
    /// What is not understood yet. A boundary ends a line, but for the first: nothing is before it.
    private var rest = lineEnd

    private static let type = "multipart/form-data"
    private static let lineEnd = Data("\r\n".utf8)
    private static let headBytesMax = 16_384

    /// nil for a body that is no form. Throws a 400 for a form without a boundary.
    init?(contentType: String?) throws(RouteRefusal) {
        let parts = (contentType ?? "").split(separator: ";").map { part in
            part.trimmingCharacters(in: .whitespaces)
        }
        guard parts.first?.lowercased() == Self.type else { return nil }
        let name = "boundary="
        let boundary = parts.first { $0.lowercased().hasPrefix(name) }?.dropFirst(name.count)
            .trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        guard let boundary, (1...70).contains(boundary.utf8.count) else { throw .brokenForm }
        delimiter = Self.lineEnd + Data("--\(boundary)".utf8)
    }

    /// Whether the end of the part has come.
    var isWhole: Bool { place == .after }

    /// What of the content is in the next piece of the body. Throws a 400 where it is none.
    func take(_ bytes: UnsafeRawBufferPointer) throws(RouteRefusal) -> Data {
        guard place != .after else { return Data() }
        rest.append(contentsOf: bytes)
        if place == .before, try pass(delimiter) { place = .head }
        if place == .head, try pass(Self.lineEnd + Self.lineEnd) { place = .content }
        return place == .content ? content() : Data()
    }

    /// Goes behind a mark; false where it has not come yet.
    private func pass(_ mark: Data) throws(RouteRefusal) -> Bool {
        guard let found = rest.range(of: mark) else {
            guard rest.count <= Self.headBytesMax else { throw .brokenForm }
            return false
        }
        rest = Data(rest[found.upperBound...])
        return true
    }

    /// All that cannot be the beginning of the boundary at the end.
    private func content() -> Data {
        let found = rest.range(of: delimiter)
        let end = found?.lowerBound ?? max(rest.startIndex, rest.endIndex - delimiter.count + 1)
        let content = Data(rest[..<end])
        rest = found == nil ? Data(rest[end...]) : Data()
        if found != nil { place = .after }
        return content
    }
}

extension RouteRefusal {
    static let brokenForm = RouteRefusal(
        status: 400,
        error: RecordError(
            .badRequest, "The form has no whole part; send the bytes of the asset as they are."))
}
