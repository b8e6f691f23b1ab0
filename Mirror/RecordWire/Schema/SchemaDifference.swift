/// What one schema has and another has not, in lines for people.
public struct SchemaDifference: Hashable, Sendable {
    public enum Change: Hashable, Sendable {
        case role(String)
        case recordType(String)
        case field(recordType: String, RecordSchema.Field)
        case index(recordType: String, field: String, RecordSchema.Index)
        case grant(recordType: String, RecordSchema.Grant)
        case naturalKey(recordType: String, RecordSchema.NaturalKey)
        case retirement(recordType: String, field: String, ClientVersion)
    }

    /// What the second has beyond the first.
    public var added: [Change] = []
    /// What the second lacks.
    public var removed: [Change] = []
    /// Fields that have another type in the second: what the first says, and the second.
    public var retyped: [(recordType: String, from: RecordSchema.Field, to: RecordSchema.Field)] {
        retypings.map { ($0.recordType, $0.from, $0.to) }
    }
    private var retypings: [Retyping] = []

    private struct Retyping: Hashable, Sendable {
        var recordType: String
        var from: RecordSchema.Field
        var to: RecordSchema.Field
    }

    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && retypings.isEmpty }

    /// What leads from `old` to `new`, by record type and field.
    public init(from old: RecordSchema, to new: RecordSchema) {
        added = Self.missing(in: old, of: new)
        removed = Self.missing(in: new, of: old)
        let places = old.places
        for type in new.recordTypes.sorted(by: { $0.name < $1.name }) {
            guard let known = places[ExactName(type.name)].map({ old.recordTypes[$0] }) else {
                continue
            }
            let fields = known.places
            for field in type.fields.sorted(by: { $0.name < $1.name }) {
                guard let former = fields[ExactName(field.name)].map({ known.fields[$0] }),
                    former.type != field.type
                else { continue }
                retypings.append(Retyping(recordType: type.name, from: former, to: field))
            }
        }
    }

    private static func missing(in one: RecordSchema, of other: RecordSchema) -> [Change] {
        let roles = Set(one.roles)
        var missing = other.roles.sorted().filter { !roles.contains($0) }.map(Change.role)
        let places = one.places
        for type in other.recordTypes.sorted(by: { $0.name < $1.name }) {
            guard let known = places[ExactName(type.name)].map({ one.recordTypes[$0] }) else {
                missing.append(.recordType(type.name))
                missing += type.fields.sorted { $0.name < $1.name }
                    .map { .field(recordType: type.name, $0) }
                missing += type.grants.map { .grant(recordType: type.name, $0) }
                missing += type.naturalKeys.sorted()
                    .map { .naturalKey(recordType: type.name, $0) }
                missing += Self.retirements(of: type, beyond: nil)
                continue
            }
            let fields = known.places
            for field in type.fields.sorted(by: { $0.name < $1.name }) {
                guard let former = fields[ExactName(field.name)].map({ known.fields[$0] }) else {
                    missing.append(.field(recordType: type.name, field))
                    continue
                }
                missing += field.indexes.subtracting(former.indexes)
                    .sorted { $0.rawValue < $1.rawValue }
                    .map { .index(recordType: type.name, field: field.name, $0) }
            }
            missing += type.grants.filter { !known.grants.contains($0) }
                .map { .grant(recordType: type.name, $0) }
            missing += type.naturalKeys.subtracting(known.naturalKeys).sorted()
                .map { .naturalKey(recordType: type.name, $0) }
            missing += Self.retirements(of: type, beyond: known)
        }
        return missing
    }

    private static func retirements(
        of type: RecordSchema.TypeDefinition, beyond other: RecordSchema.TypeDefinition?
    ) -> [Change] {
        type.fields.sorted { $0.name < $1.name }.compactMap { field in
            guard let version = field.retiredFrom, other?[field.name]?.retiredFrom != version
            else { return nil }
            return .retirement(recordType: type.name, field: field.name, version)
        }
    }

    /// `+` for what the second has beyond the first, `-` for what it lacks, `!` for another type.
    public var lines: [String] {
        added.map { "+ \($0.text)" } + removed.map { "- \($0.text)" }
            + retypings.map {
                "! \($0.recordType).\($0.to.name) is \($0.to.type.text), was \($0.from.type.text)"
            }
    }
}

extension SchemaDifference.Change {
    var text: String {
        switch self {
        case .role(let name): "role \(name)"
        case .recordType(let name): "record type \(name)"
        case .field(let type, let field):
            (["\(type).\(field.name) \(field.type.text)"]
                + field.indexes.map(\.rawValue).sorted()).joined(separator: " ")
        case .index(let type, let field, let index): "\(type).\(field) \(index.rawValue)"
        case .grant(let type, let grant):
            "\(type): \(grant.permissions.map(\.rawValue).sorted().joined(separator: ", ")) "
                + "to \(grant.role)"
        case .naturalKey(let type, let key): "\(type): UNIQUE (\(key.text))"
        case .retirement(let type, let field, let version):
            "\(type).\(field) RETIRED FROM \(version)"
        }
    }
}

extension RecordSchema {
    /// Both together. Where a field has two types, the one of this schema stays.
    public func merged(with other: RecordSchema) -> RecordSchema {
        var merged = self
        let known = Set(roles)
        merged.roles += other.roles.filter { !known.contains($0) }
        var places = places
        for type in other.recordTypes {
            let name = ExactName(type.name)
            if let place = places[name] {
                merged.recordTypes[place].merge(type)
            } else {
                places[name] = merged.recordTypes.count
                merged.recordTypes.append(type)
            }
        }
        return merged
    }
}

extension RecordSchema.TypeDefinition {
    fileprivate mutating func merge(_ other: Self) {
        var places = places
        for field in other.fields {
            let name = ExactName(field.name)
            guard let known = places[name] else {
                places[name] = fields.count
                fields.append(field)
                continue
            }
            fields[known].indexes.formUnion(field.indexes)
            if let version = field.retiredFrom { fields[known].retiredFrom = version }
        }
        naturalKeys.formUnion(other.naturalKeys)
        for grant in other.grants where !grants.contains(grant) { grants.append(grant) }
    }
}
