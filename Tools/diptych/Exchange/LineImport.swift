internal import Foundation
internal import ObjectModel
internal import Stores

/// Turns exported lines into the changes of one save.
struct LineImport {
    private let store: any RowStore
    private(set) var changes = ChangeSet()
    private var ids: [String: RowID] = [:]
    private var drafts: [Draft] = []

    private struct Draft {
        let number: Int
        let entity: EntityLayout
        let values: [String: Any]
        let links: [String: Any]
        let id: RowID
    }

    /// Reads all of `text`. Throws a `CommandError` that names the line.
    init(_ text: String, into store: any RowStore) throws {
        self.store = store
        var number = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            let blank = line.allSatisfy { $0.isWhitespace }
            if !blank { try addDraft(String(line), number) }
        }
        for draft in drafts { try addRow(draft) }
    }

    // MARK: Lines

    private mutating func addDraft(_ line: String, _ number: Int) throws {
        guard
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let name = object["entity"] as? String
        else { throw refusal(number, "The line is no object with an \"entity\".", Self.form) }
        guard let entity = store.layout.entity(named: name) else {
            let names = store.layout.entities.map(\.name).sorted()
            throw refusal(
                number, "The store has no entity '\(name)'.",
                "It has \(names.joined(separator: ", ")).")
        }
        guard !entity.entity.isAbstract else {
            throw refusal(
                number, "\(name) is abstract; no object is of it.", "Name one of its subentities.")
        }
        let values = object["values"] ?? [String: Any]()
        let links = object["relationships"] ?? [String: Any]()
        guard let values = values as? [String: Any], let links = links as? [String: Any] else {
            throw refusal(number, "The values or relationships are no object.", Self.form)
        }
        guard let key = try store.reserveKeys(entity: entity.number, count: 1).first else {
            throw refusal(number, "The store gave no key.", "Run it again.")
        }
        let id = RowID(entity: entity.number, key: key)
        if let given = object["id"] as? String, ids.updateValue(id, forKey: given) != nil {
            throw refusal(number, "The id '\(given)' stands twice.", "Give each object its own.")
        }
        drafts.append(
            Draft(number: number, entity: entity, values: values, links: links, id: id))
    }

    private static let form =
        "Lines are as 'diptych export' writes them: "
        + "{\"id\": …, \"entity\": …, \"values\": {…}, \"relationships\": {…}}."

    // MARK: Objects

    private mutating func addRow(_ draft: Draft) throws {
        var row = Row(id: draft.id, layout: draft.entity)
        try setValues(of: draft, &row)
        for (name, value) in draft.links.sorted(by: { $0.key < $1.key }) {
            if let slot = draft.entity.toOneSlot(name) {
                let target = try target(value, draft, draft.entity.toOnes[slot])
                row.toOnes[slot] = target.map { Link($0) }
            } else if let slot = draft.entity.toManySlot(name) {
                try addMembers(value, draft, slot)
            } else {
                throw unknown(name, draft, draft.entity.toOnes + draft.entity.toManys)
            }
        }
        changes.inserts.append(row)
    }

    private func setValues(of draft: Draft, _ row: inout Row) throws {
        for (name, json) in draft.values.sorted(by: { $0.key < $1.key }) {
            guard let slot = draft.entity.attributeSlot(name) else {
                throw unknown(name, draft, draft.entity.attributes.map(\.attribute))
            }
            let attribute = draft.entity.attributes[slot].attribute
            guard let value = ObjectLine.value(json, attribute.attributeType) else {
                throw refusal(
                    draft.number,
                    "'\(json)' is no value for \(name), which is of the type "
                        + "\(attribute.attributeType.fileName ?? "unknown").",
                    "Dates are ISO 8601 in UTC, data base64, decimals and 64-bit integers texts.")
            }
            row.attributes[slot] = value
        }
        let missing = zip(draft.entity.attributes, row.attributes).first {
            $1.isNull && !$0.attribute.isOptional && !$0.name.contains(".")
                && !($0.attribute is NSDerivedAttributeDescription)
        }
        if let missing {
            throw refusal(
                draft.number, "\(draft.entity.name) lacks \(missing.0.name), which is required.",
                "Give it a value.")
        }
    }

    // MARK: Links

    private func target(
        _ value: Any, _ draft: Draft, _ relationship: NSRelationshipDescription
    ) throws -> RowID? {
        if value is NSNull { return nil }
        guard let name = value as? String, let id = ids[name] else {
            throw refusal(
                draft.number, "\(relationship.name) leads to '\(value)', which is no line here.",
                "Export the objects it leads to as well.")
        }
        guard let destination = relationship.destinationEntity,
            store.layout.entity(id.entity)?.entity.isKindOf(entity: destination) ?? false
        else {
            throw refusal(
                draft.number, "\(relationship.name) leads to \(name), which is of another entity.",
                "It leads to \(relationship.destinationEntity?.name ?? "nothing").")
        }
        return id
    }

    private mutating func addMembers(_ value: Any, _ draft: Draft, _ slot: Int) throws {
        let relationship = draft.entity.toManys[slot]
        guard let list = value as? [Any] else {
            throw refusal(draft.number, "\(relationship.name) is no list of ids.", Self.form)
        }
        let members = try list.compactMap { try target($0, draft, relationship) }
        guard !members.isEmpty else { return }
        var change = ToManyChange(owner: draft.id, slot: slot)
        let isMirrored = relationship.inverseRelationship.map { !$0.isToMany } ?? false
        if !isMirrored { change.added = members.map { Link($0) } }
        if relationship.isOrdered { change.order = members }
        if relationship.isOrdered || !isMirrored { changes.toManys.append(change) }
    }

    // MARK: Errors

    private func unknown(
        _ name: String, _ draft: Draft, _ properties: [NSPropertyDescription]
    ) -> CommandError {
        let near = Spelling.nearest(to: name, among: properties.map(\.name))
        return refusal(
            draft.number, "\(draft.entity.name) has no '\(name)'.",
            near.map { "Did you mean \($0)?" } ?? "Compare with `diptych inspect`.")
    }

    private func refusal(_ line: Int, _ message: String, _ hint: String) -> CommandError {
        CommandError("badLine", "Line \(line): \(message)", hint: hint + " Nothing was imported.")
    }
}
