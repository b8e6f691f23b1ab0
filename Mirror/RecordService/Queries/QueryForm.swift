internal import Foundation
internal import RecordWire

/// A value as bytes whose order is the order of the values: the first byte is the kind, the rest
/// compares byte by byte.
struct QueryForm: Hashable, Comparable {
    let bytes: [UInt8]

    /// The kinds, in the order of their numbers, which files keep.
    enum Kind: UInt8 {
        /// The record has no such value; it comes before all others.
        case missing = 0
        case string, int64, double, timestamp, bytes, reference, location, distance
        /// Nobody can say without a look at the record: it is damaged, or has too many values.
        case unknown = 255
    }

    static let missing = QueryForm(.missing)
    static let unknown = QueryForm(.unknown)

    /// Indexes keep so many bytes of a value.
    static let indexedBytesMax = 256

    init(_ kind: Kind, _ rest: some Sequence<UInt8> = []) { bytes = [kind.rawValue] + rest }

    init(bytes: [UInt8]) { self.bytes = bytes }

    var kind: Kind { Kind(rawValue: bytes.first ?? 0) ?? .unknown }

    /// As an index keeps it.
    var indexed: QueryForm {
        bytes.count <= Self.indexedBytesMax
            ? self : QueryForm(bytes: Array(bytes.prefix(Self.indexedBytesMax)))
    }

    func hasPrefix(_ other: QueryForm) -> Bool { bytes.starts(with: other.bytes) }

    static func < (one: QueryForm, other: QueryForm) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }

    // MARK: Values

    /// The forms of a field's value: one, or one for each element of a list. An asset, an empty
    /// list and nil have none.
    static func all(of value: FieldValue?) -> [QueryForm] {
        guard case .list(_, let elements)? = value else {
            return value.flatMap { one(of: $0) }.map { [$0] } ?? []
        }
        return elements.compactMap { one(of: $0) }
    }

    /// The form of a value that is no list and no asset.
    static func one(of value: FieldValue) -> QueryForm? {
        switch value {
        case .string(let text): QueryForm(.string, text.utf8)
        case .int64(let number): QueryForm(.int64, ordered(number))
        case .double(let number): QueryForm(.double, ordered(number))
        case .timestamp(let milliseconds): QueryForm(.timestamp, ordered(milliseconds))
        case .bytes(let data): QueryForm(.bytes, data)
        case .reference(let target): QueryForm(.reference, target.recordName.utf8)
        case .location(let place):
            QueryForm(.location, ordered(place.latitude) + ordered(place.longitude))
        case .asset, .list, .encrypted: nil
        }
    }

    /// The form of a distance in metres; nil is beyond all others.
    static func distance(_ metres: Double?) -> QueryForm {
        QueryForm(.distance, ordered(metres ?? .infinity))
    }

    private static func ordered(_ number: Int64) -> [UInt8] {
        bigEndian(UInt64(bitPattern: number) ^ (1 << 63))
    }

    /// Both zeros are one number, and all that are none are one, above infinity.
    private static func ordered(_ number: Double) -> [UInt8] {
        let bits = (number.isNaN ? .nan : number == 0 ? 0 : number).bitPattern
        return bigEndian(bits >> 63 == 0 ? bits | (1 << 63) : ~bits)
    }

    private static func bigEndian(_ word: UInt64) -> [UInt8] {
        withUnsafeBytes(of: word.bigEndian) { Array($0) }
    }

    // MARK: Words of a text

    /// The words of a text without case and accents.
    static func words(of text: String) -> Set<QueryForm> {
        let folded = text.folding(
            options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        return Set(
            folded.split { !$0.isLetter && !$0.isNumber }.map { QueryForm(.string, $0.utf8) })
    }
}

/// Forms from `lower` on, up to but not including `upper`.
struct FormRange: Hashable {
    var lower: QueryForm
    /// nil: to the end.
    var upper: QueryForm?

    func contains(_ form: QueryForm) -> Bool {
        !(form < lower) && upper.map { form < $0 } ?? true
    }

    static let all = FormRange(lower: .missing, upper: nil)
    /// Records that have to be looked at whatever is asked.
    static let unknown = FormRange(lower: .unknown, upper: nil)

    /// What indexes keep of one value.
    static func one(_ form: QueryForm) -> FormRange {
        let form = form.indexed
        return FormRange(lower: form, upper: QueryForm(bytes: form.bytes + [0]))
    }

    static func beginning(with form: QueryForm) -> FormRange {
        let form = form.indexed
        return FormRange(lower: form, upper: QueryForm(bytes: form.bytes + [0xFF]))
    }

    static func through(_ form: QueryForm) -> FormRange {
        FormRange(lower: QueryForm(form.kind), upper: one(form).upper)
    }

    static func from(_ form: QueryForm) -> FormRange {
        FormRange(
            lower: form.indexed, upper: QueryForm(bytes: [form.kind.rawValue &+ 1]))
    }
}
