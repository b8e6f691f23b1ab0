package import Foundation

/// Property lists from strangers, as plain values: in bounded memory and depth.
///
/// Written because Foundation unfolds a binary list whose containers share members, however far:
/// three hundred bytes of it can ask for more memory than there is.
package struct PropertyListValues {
    private let table: PropertyListTable
    private let file: String
    private var steps = 250_000

    private static let depthMax = 64

    /// The dictionary that `data` holds, in the binary form or in XML; `file` is its name in
    /// errors. Throws `ModelFileError`.
    package static func dictionary(in data: Data, file: String) throws -> [String: Any] {
        let found = try value(in: data, file: file)
        guard let values = found as? [String: Any] else {
            throw ModelFileError(
                .malformed, file: file, "the property list is no dictionary; expected one")
        }
        return values
    }

    private static func value(in data: Data, file: String) throws -> Any {
        guard data.starts(with: "bplist".utf8) else { return try text(data, file: file) }
        let table = try PropertyListReader.table(data, file: file)
        var values = PropertyListValues(table: table, file: file)
        return try values.value(at: table.root, depth: 0)
    }

    private init(table: PropertyListTable, file: String) {
        self.table = table
        self.file = file
    }

    /// XML shares nothing, and Foundation bounds its depth.
    private static func text(_ data: Data, file: String) throws -> Any {
        let first = data.prefix(1024).first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard data.count <= ModelFile.bytesMax, first == 0x3C || first == 0xEF else {
            throw ModelFileError(
                .malformed, file: file,
                "the property list is too large, or neither binary nor XML; write it as either")
        }
        do {
            return try PropertyListSerialization.propertyList(from: data, format: nil)
        } catch {
            throw ModelFileError(
                .malformed, file: file, "the property list is damaged; restore it from a copy",
                cause: error)
        }
    }

    private mutating func value(at place: Int, depth: Int) throws -> Any {
        steps -= 1
        guard depth < Self.depthMax, steps > 0 else { throw broken("it nests or unfolds too far") }
        switch table.node(place) {
        case .bool(let flag): return flag
        case .integer(let number): return Int(number)
        case .real(let number): return number
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .string(let text): return text
        case .array(let members):
            var values: [Any] = []
            for member in members { values.append(try value(at: member, depth: depth + 1)) }
            return values
        case .dictionary(let pairs):
            var values: [String: Any] = [:]
            for pair in pairs {
                guard case .string(let key) = table.node(pair.key) else {
                    throw broken("a key is no text")
                }
                values[key] = try value(at: pair.value, depth: depth + 1)
            }
            return values
        case .null, .uid, nil: throw broken("it holds what only archives hold")
        }
    }

    private func broken(_ what: String) -> ModelFileError {
        ModelFileError(
            .malformed, file: file, "the property list is damaged: \(what); restore it from a copy")
    }
}
