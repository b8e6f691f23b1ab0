package import Foundation
internal import SQLiteDriver
package import Stores

/// Moves attribute values into and out of columns, by the kind of the column.
///
/// SQLite has no NaN: a double that is none becomes NULL, in Apple's files as in ours. A decimal
/// NaN is the text `NaN`.
package enum ValueCoding {
    /// Marks a value kept in the column itself, and one kept in a file.
    static let inlineMarker: UInt8 = 0x01
    static let fileMarker: UInt8 = 0x02

    /// The column's value of `value`; nil when a column of this kind cannot hold it.
    static func encode(_ value: AttributeValue, as kind: ColumnKind) -> SQLiteValue? {
        if case .null = value { return .null }
        switch kind {
        case .integer: return integer(value).map { .integer($0) }
        case .boolean: return integer(value).map { .integer($0 == 0 ? 0 : 1) }
        case .double, .date: return real(value).map { .real($0) }
        case .float: return real(value).map { .real(Double(Float($0))) }
        case .decimal: return decimal(value)
        case .text, .uri:
            switch value {
            case .text(let text), .uri(let text): return .text(text)
            default: return nil
            }
        case .uuid:
            if case .uuid(let uuid) = value {
                return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
            }
            return nil
        case .transformable, .binary(external: false):
            if case .data(let data) = value { return .blob(data) }
            return nil
        case .binary(external: true):
            if case .data(let data) = value { return .blob(Data([inlineMarker]) + data) }
            return nil
        }
    }

    /// Binds `value` at `index`; false when a column of this kind cannot hold it.
    static func bind(
        _ value: AttributeValue, as kind: ColumnKind, to statement: Statement, at index: Int
    ) throws -> Bool {
        if case .uuid(let uuid) = value, kind == .uuid {
            try statement.bind(uuid, at: index)
            return true
        }
        guard let encoded = encode(value, as: kind) else { return false }
        try statement.bind(encoded, at: index)
        return true
    }

    /// Reads the column at `index`. A value of a class the kind does not have comes back as near as
    /// it can.
    static func read(
        _ statement: Statement, _ index: Int, as kind: ColumnKind, files: ExternalFiles?
    ) throws -> AttributeValue {
        // Null reads as zero or no text, so only these need a second look.
        switch kind {
        case .integer:
            let integer = statement.int64(at: index)
            return integer == 0 && statement.isNull(at: index) ? .null : .integer(integer)
        case .boolean:
            let isTrue = statement.int64(at: index) != 0
            return !isTrue && statement.isNull(at: index) ? .null : .integer(isTrue ? 1 : 0)
        case .double, .float:
            let number = statement.double(at: index)
            return number == 0 && statement.isNull(at: index) ? .null : .double(number)
        case .date:
            let seconds = statement.double(at: index)
            return seconds == 0 && statement.isNull(at: index) ? .null : .date(seconds)
        case .text: return statement.text(at: index).map { .text($0) } ?? .null
        case .uri: return statement.text(at: index).map { .uri($0) } ?? .null
        case .uuid:
            if let uuid = statement.uuid(at: index) { return .uuid(uuid) }
            return statement.blob(at: index).map { .data($0) } ?? .null
        case .decimal, .transformable, .binary: break
        }
        if statement.isNull(at: index) { return .null }
        switch kind {
        case .decimal: return decimal(statement.value(at: index))
        case .transformable, .binary(external: false):
            return .data(statement.blob(at: index) ?? Data())
        case .binary(external: true):
            let stored = statement.blob(at: index) ?? Data()
            return try external(stored, files: files).map { .data($0) } ?? .null
        case .integer, .boolean, .date, .double, .float, .text, .uuid, .uri: return .null
        }
    }

    /// The attribute value of a value that SQL computed.
    static func value(_ value: SQLiteValue, as kind: ColumnKind) -> AttributeValue {
        if case .decimal = kind { return decimal(value) }
        switch (kind, value) {
        case (_, .null): return .null
        case (.integer, _), (.boolean, _):
            return value.int64.map { .integer($0) } ?? value.double.map { .double($0) } ?? .null
        case (.date, _): return value.double.map { .date($0) } ?? .null
        case (.double, _), (.float, _): return value.double.map { .double($0) } ?? .null
        case (.uri, .text(let text)): return .uri(text)
        case (_, .text(let text)): return .text(text)
        case (.uuid, .blob(let data)) where data.count == 16:
            return .uuid(UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case (_, .blob(let data)): return .data(data)
        case (_, .integer(let integer)): return .integer(integer)
        case (_, .real(let real)): return .double(real)
        }
    }

    // MARK: What comes back

    /// What a column of this kind gives back of a value that is written to it.
    package static func settled(
        _ value: AttributeValue, as kind: ColumnKind
    ) -> AttributeValue {
        switch (kind, value) {
        case (.boolean, .integer(let integer)): .integer(integer == 0 ? 0 : 1)
        case (.double, .double(let double)), (.float, .double(let double)),
            (.date, .date(let double)):
            if double.isNaN {
                .null
            } else {
                kind == .float ? .double(Double(Float(double))) : value
            }
        case (.decimal, .decimal), (.decimal, .double): settledDecimal(value)
        default: value
        }
    }

    /// Whether a column of this kind may give back something else than what is written to it.
    package static func settles(_ kind: ColumnKind) -> Bool {
        switch kind {
        case .boolean, .double, .float, .date, .decimal: true
        case .integer, .text, .uuid, .uri, .transformable, .binary: false
        }
    }

    /// A decimal column has the digits of a real; what is whole there becomes an integer.
    private static func settledDecimal(_ value: AttributeValue) -> AttributeValue {
        guard let column = decimal(value) else { return value }
        guard case .real(let real) = column, real.magnitude < 0x1p63,
            let whole = Int64(exactly: real)
        else { return decimal(column) }
        return .decimal(Decimal(whole))
    }

    // MARK: Numbers

    private static func integer(_ value: AttributeValue) -> Int64? {
        switch value {
        case .integer(let integer): integer
        case .double(let double), .date(let double): Int64(exactly: double)
        case .decimal(let decimal): Int64(decimal.description)
        case .null, .text, .uuid, .uri, .data: nil
        }
    }

    private static func real(_ value: AttributeValue) -> Double? {
        switch value {
        case .integer(let integer): Double(integer)
        case .double(let double), .date(let double): double
        case .decimal(let decimal): Double(decimal.description)
        case .null, .text, .uuid, .uri, .data: nil
        }
    }

    private static func decimal(_ value: AttributeValue) -> SQLiteValue? {
        // Apple binds decimals as text, which the column makes a number of, except for this one.
        if case .decimal(let decimal) = value, decimal.isNaN { return .text("NaN") }
        if let whole = integer(value) { return .integer(whole) }
        return real(value).map { .real($0) }
    }

    /// A decimal column gives back integers and reals; the shortest text of a real is what was
    /// meant. A real that no decimal can be, such as an infinity, stays one.
    static func decimal(_ value: SQLiteValue) -> AttributeValue {
        switch value {
        case .null: .null
        case .integer(let integer): .decimal(Decimal(integer))
        case .real(let real): exactDecimal(real).map { .decimal($0) } ?? .double(real)
        case .text("NaN"): .decimal(.nan)
        case .text(let text): Decimal(string: text).map { .decimal($0) } ?? .text(text)
        case .blob(let data): .data(data)
        }
    }

    /// Whether a decimal column gives back another number, as of more than about 15 digits.
    package static func isRounded(_ decimal: Decimal) -> Bool {
        guard !decimal.isNaN, let kept = Self.decimal(AttributeValue.decimal(decimal)) else {
            return false
        }
        return Self.decimal(kept) != .decimal(decimal)
    }

    private static func exactDecimal(_ real: Double) -> Decimal? {
        guard real.isFinite, let decimal = Decimal(string: "\(real)"), !decimal.isNaN else {
            return nil
        }
        // What is too small for a decimal would become nothing.
        return decimal.isZero && real != 0 ? nil : decimal
    }

    // MARK: Files

    /// The value of a column that may refer to a file. A lost file reads as null; the column keeps
    /// its reference, since updates write only what changed.
    static func external(_ stored: Data, files: ExternalFiles?) throws -> Data? {
        switch stored.first {
        case inlineMarker: Data(stored.dropFirst())
        case fileMarker: try files?.read(reference: stored.dropFirst())
        default: stored
        }
    }
}
