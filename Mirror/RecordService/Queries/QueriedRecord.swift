internal import Foundation
internal import RecordWire

/// What an index of one record type is made of.
struct QueryIndexKey: Hashable {
    enum Kind: Int64 {
        case value = 0
        /// The words of a text; of all texts where the name is empty.
        case words = 1
        case system = 2
    }
    let kind: Kind
    let name: ExactName

    init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = ExactName(name)
    }

    init(_ field: QueriedField, words: Bool) {
        switch field {
        case .field(let name): self.init(words ? .words : .value, name)
        case .system(let system): self.init(.system, system.schemaName)
        case .anyText: self.init(.words, "")
        }
    }

    static let recordName = QueryIndexKey(.system, SystemField.recordName.schemaName)
}

/// A record as conditions see it.
struct QueriedRecord {
    let row: RecordRow
    let fields: RecordFields

    /// A record of which more values are asked for than this is looked at by every query.
    private static let valuesMax = 256

    /// `names`: the fields that are needed, or nil for all. Throws `RecordArchiveError`.
    init(_ row: RecordRow, named names: Set<String>? = nil) throws {
        self.row = row
        fields = try RecordArchive.decodeFields(row.fields, named: names)
    }

    init(_ row: RecordRow, fields: RecordFields) {
        self.row = row
        self.fields = fields
    }

    func value(_ name: ExactName) -> FieldValue? { fields[name.text].flatMap { $0 } }

    /// The whole forms under a key; one that says so where there is no value.
    func forms(_ key: QueryIndexKey) -> [QueryForm] {
        let forms =
            switch key.kind {
            case .value: QueryForm.all(of: value(key.name))
            case .words: Array(words(key.name))
            case .system: SystemField(named: key.name.text).flatMap(system).map { [$0] } ?? []
            }
        return forms.isEmpty ? [.missing] : forms
    }

    /// The forms that an index keeps, in their order, each once.
    func indexedForms(_ key: QueryIndexKey) -> [QueryForm] {
        let forms = Set(forms(key).map(\.indexed))
        return forms.count > Self.valuesMax ? [.unknown] : forms.sorted()
    }

    private func words(_ name: ExactName) -> Set<QueryForm> {
        guard name.text.isEmpty else { return Self.words(of: value(name)) }
        return fields.reduce(into: []) { words, field in
            guard !SharingField.isReserved(field.key) else { return }
            words.formUnion(Self.words(of: field.value))
        }
    }

    private static func words(of value: FieldValue?) -> Set<QueryForm> {
        switch value {
        case .string(let text): QueryForm.words(of: text)
        case .list(.string, let elements):
            elements.reduce(into: []) { $0.formUnion(words(of: $1)) }
        default: []
        }
    }

    private func system(_ field: SystemField) -> QueryForm? {
        switch field {
        case .recordName: QueryForm(.string, row.name.utf8)
        case .createdTimestamp: QueryForm.one(of: .timestamp(row.created.timestamp))
        case .modifiedTimestamp: QueryForm.one(of: .timestamp(row.modified.timestamp))
        case .createdUserRecordName: row.created.userRecordName.map { QueryForm(.string, $0.utf8) }
        case .modifiedUserRecordName:
            row.modified.userRecordName.map { QueryForm(.string, $0.utf8) }
        }
    }
}

extension RecordLocation {
    private static let earthRadius = 6_371_000.0

    /// Metres over the ground, on a sphere.
    func metres(to other: RecordLocation) -> Double {
        let one = latitude * .pi / 180
        let two = other.latitude * .pi / 180
        let across = sin((two - one) / 2)
        let along = sin((other.longitude - longitude) * .pi / 360)
        let chord = across * across + cos(one) * cos(two) * along * along
        return 2 * Self.earthRadius * asin(min(1, chord.squareRoot()))
    }

    /// Degrees of latitude that `metres` span, a little more rather than less.
    static func degrees(of metres: Double) -> Double {
        metres / earthRadius * 180 / .pi * 1.000_001 + 1e-9
    }
}
