internal import Foundation
internal import RecordWire

/// Where a query goes on: opaque text for clients, a position for the service. It is good for the
/// same query of the same place only, also after a restart.
struct ContinuationMarker {
    let position: QueryPosition

    private static let version: UInt8 = 1
    private static let checkBytes = 12
    private static let textBytesMax = 8_000

    init(_ position: QueryPosition) { self.position = position }

    /// `scope` is what the marker is good for.
    func text(_ scope: [UInt8]) throws -> String {
        var bytes: [UInt8] = [Self.version]
        withUnsafeBytes(of: position.zone.bigEndian) { bytes += $0 }
        bytes.append(UInt8(clamping: position.forms.count))
        for form in position.forms {
            withUnsafeBytes(of: UInt16(clamping: form.bytes.count).bigEndian) { bytes += $0 }
            bytes += form.bytes
        }
        bytes += position.name.utf8
        return Base64URL.text(try Self.check(bytes, scope) + bytes)
    }

    /// Throws BAD_REQUEST for a text that `text` did not give out for this scope.
    init(_ text: String, _ scope: [UInt8]) throws {
        guard text.utf8.count <= Self.textBytesMax, let all = Base64URL.bytes(text),
            all.count > Self.checkBytes,
            case let bytes = Array(all.dropFirst(Self.checkBytes)), bytes[0] == Self.version,
            try Self.check(bytes, scope).elementsEqual(all.prefix(Self.checkBytes)),
            let position = Self.position(bytes)
        else {
            throw RecordError(
                .badRequest,
                "The continuationMarker is not of this query; begin without one, and change "
                    + "nothing of the query between its pages.")
        }
        self.position = position
    }

    private static func position(_ bytes: [UInt8]) -> QueryPosition? {
        var rest = bytes.dropFirst()
        func number(_ count: Int) -> UInt64? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let zone = number(8), let count = number(1) else { return nil }
        var forms: [QueryForm] = []
        for _ in 0..<count {
            guard let length = number(2), rest.count >= Int(length) else { return nil }
            forms.append(QueryForm(bytes: Array(rest.prefix(Int(length)))))
            rest = rest.dropFirst(Int(length))
        }
        return String(validating: rest, as: UTF8.self).map {
            QueryPosition(zone: Int64(bitPattern: zone), forms: forms, name: $0)
        }
    }

    private static func check(_ bytes: [UInt8], _ scope: [UInt8]) throws -> [UInt8] {
        Array(try SecretHash.sha256(bytes: scope + bytes).prefix(checkBytes))
    }
}
