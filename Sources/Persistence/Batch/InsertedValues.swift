internal import Foundation
internal import ObjectModel
internal import Stores

/// The values of one row of a batch insertion.
struct InsertedRow {
    var attributes: [AttributeValue]
    /// The slots that were given: the others have the model's defaults.
    var given: [Int]
}

/// The rows of a batch insertion, one after the other.
final class InsertedValues {
    private let shape: ObjectLayout
    private let type: NSManagedObject.Type
    /// The slots that must have a value.
    private let mandatory: [Int]
    private let objects: [[String: Any]]
    private let dictionaryHandler: ((NSMutableDictionary) -> Bool)?
    private let objectHandler: ((NSManagedObject) -> Bool)?
    private var next = 0
    private var isOver = false

    init(_ request: NSBatchInsertRequest, shape: ObjectLayout, type: NSManagedObject.Type) {
        self.shape = shape
        self.type = type
        mandatory = shape.layout.attributes.indices.filter {
            let attribute = shape.layout.attributes[$0].attribute
            return !attribute.isOptional && !(attribute is NSDerivedAttributeDescription)
        }
        objects = request.objectsToInsert ?? []
        dictionaryHandler = objects.isEmpty ? request.dictionaryHandler : nil
        objectHandler = objects.isEmpty ? request.managedObjectHandler : nil
    }

    /// Up to `count` rows; none at the end. Throws 1550 for a value that its attribute cannot hold,
    /// 1610 or 1620 for a number it has no room for, 1570 for a mandatory one that is missing.
    func rows(_ count: Int) throws -> [InsertedRow] {
        var rows: [InsertedRow] = []
        while rows.count < count, let row = try row() {
            if let slot = mandatory.first(where: { row.attributes[$0] == .null }) {
                throw missing(shape.layout.attributes[slot].name)
            }
            rows.append(row)
        }
        return rows
    }

    private func row() throws -> InsertedRow? {
        guard !isOver else { return nil }
        if let dictionaryHandler {
            let values = NSMutableDictionary()
            isOver = dictionaryHandler(values)
            return isOver ? nil : try row(of: values as? [String: Any] ?? [:])
        }
        if let objectHandler {
            let object = shape.expecting(type) { _ in
                type.init(entity: shape.entity, insertInto: nil)
            }
            isOver = objectHandler(object)
            return isOver ? nil : try row(of: object)
        }
        guard next < objects.count else { return nil }
        next += 1
        return try row(of: objects[next - 1])
    }

    private func row(of values: [String: Any]) throws -> InsertedRow {
        var row = InsertedRow(attributes: shape.defaults, given: [])
        for (key, value) in values {
            switch shape.slot(key) {
            case .attribute(let slot): try set(slot, to: value, in: &row)
            case .composite(let elements):
                guard let given = elements.spread(value) else { throw misfit(key, value) }
                for (slot, value) in given { try set(slot, to: value, in: &row) }
            case .toOne, .toMany:
                throw PersistenceErrors.unsupported(
                    "A batch insert takes no relationships (\(key)); set them on objects "
                        + "afterwards.")
            case .transient, .fetched, nil: continue
            }
        }
        return row
    }

    private func set(_ slot: Int, to value: Any?, in row: inout InsertedRow) throws {
        let place = shape.layout.attributes[slot]
        if place.attribute is NSDerivedAttributeDescription { return }
        guard let accepted = AttributeCoding.accept(value, for: place.attribute) else {
            throw misfit(place.name, value)
        }
        try check(accepted, slot)
        row.attributes[slot] = accepted
        row.given.append(slot)
    }

    private func row(of object: NSManagedObject) throws -> InsertedRow {
        if let (key, value) = object.extras?.misfits.first { throw misfit(key, value) }
        let links =
            object.toOnes.contains { $0 != nil } || object.toManys.contains(where: \.isChanged)
        guard !links else {
            throw PersistenceErrors.unsupported(
                "A batch insert takes no relationships; set them on objects afterwards.")
        }
        let given = shape.layout.attributes.indices.filter {
            !(shape.layout.attributes[$0].attribute is NSDerivedAttributeDescription)
        }
        for slot in given { try check(object.attributes[slot], slot) }
        return InsertedRow(attributes: object.attributes, given: given)
    }

    private func check(_ value: AttributeValue, _ slot: Int) throws {
        let attribute = shape.layout.attributes[slot].attribute
        let complaint = AttributeCheck.complaint(aboutWidthOf: value, for: attribute)
        guard let complaint else { return }
        throw PersistenceErrors.invalid(
            shape.layout.attributes[slot].name, of: shape.layout.name, complaint)
    }

    private func missing(_ key: String) -> NSError {
        PersistenceErrors.make(
            NSValidationMissingMandatoryPropertyError,
            "The property \"\(key)\" of \"\(shape.layout.name)\" needs a value, which a row of the "
                + "batch insertion does not give.", [NSValidationKeyErrorKey: key])
    }

    private func misfit(_ key: String, _ value: Any?) -> NSError {
        PersistenceErrors.make(
            NSManagedObjectValidationError,
            "The property \"\(key)\" of \"\(shape.layout.name)\" cannot hold a value of type "
                + "\(value.map { "\(Swift.type(of: $0))" } ?? "nil").",
            [NSValidationKeyErrorKey: key])
    }
}
