internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Stores

/// The seven values of one object, made beforehand so that no contender pays for making them.
struct Sample {
    let amount: Double
    let count: Int64
    let created: Double
    let isDone: Bool
    let key: UUID
    let name: String
    let note: String

    init(_ number: Int) {
        let mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        amount = Double(mixed % 1_000_000) / 100
        count = Int64(mixed >> 40)
        created = 700_000_000 + Double(number)
        isDone = number.isMultiple(of: 3)
        key = Self.uuid(mixed, UInt64(number))
        name = "Entry number \(number)"
        note = "A line of text that says a little about entry \(number), as notes do."
    }

    static func many(_ count: Int, from first: Int = 0) -> [Sample] {
        (first..<first + count).map(Sample.init)
    }

    private static func uuid(_ high: UInt64, _ low: UInt64) -> UUID {
        var words = (high, low)
        return withUnsafeBytes(of: &words) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The values in the order of an entity's slots, which is that of the names.
    var slots: [AttributeValue] {
        [
            .double(amount), .integer(count), .date(created), .integer(isDone ? 1 : 0), .uuid(key),
            .text(name), .text(note),
        ]
    }
}

/// The class an app would have for it, with the accessors that the plugin makes of `@NSManaged`.
final class SampleObject: NSManagedObject {
    var amount: Double {
        get { managedValue(forKey: "amount") }
        set { setManagedValue(newValue, forKey: "amount") }
    }
    var count: Int64 {
        get { managedValue(forKey: "count") }
        set { setManagedValue(newValue, forKey: "count") }
    }
    var created: Date? {
        get { managedValue(forKey: "created") }
        set { setManagedValue(newValue, forKey: "created") }
    }
    var isDone: Bool {
        get { managedValue(forKey: "isDone") }
        set { setManagedValue(newValue, forKey: "isDone") }
    }
    var key: UUID? {
        get { managedValue(forKey: "key") }
        set { setManagedValue(newValue, forKey: "key") }
    }
    var name: String? {
        get { managedValue(forKey: "name") }
        set { setManagedValue(newValue, forKey: "name") }
    }
    var note: String? {
        get { managedValue(forKey: "note") }
        set { setManagedValue(newValue, forKey: "note") }
    }

    func fill(_ sample: Sample) {
        amount = sample.amount
        count = sample.count
        created = Date(timeIntervalSinceReferenceDate: sample.created)
        isDone = sample.isDone
        key = sample.key
        name = sample.name
        note = sample.note
    }
}

enum SampleModel {
    static let entity = "Entry"
    static let folder = "Folder"

    /// Entries of seven attributes; with folders that hold them where they are linked, and with an
    /// index of their dates where they are indexed.
    static func make(linked: Bool = false, indexed: Bool = false) -> NSManagedObjectModel {
        let entry = described(entity, attributes)
        if indexed, let created = entry.attributesByName["created"] {
            let element = NSFetchIndexElementDescription(property: created, collationType: .binary)
            entry.indexes = [NSFetchIndexDescription(name: "byCreated", elements: [element])]
        }
        entry.managedObjectClassName = "\(SampleObject.self)"
        let model = NSManagedObjectModel()
        guard linked else {
            model.entities = [entry]
            return model
        }
        let folder = described(Self.folder, [("name", .stringAttributeType)])
        let owner = relationship("folder", to: folder, isToMany: false)
        let members = relationship("entries", to: entry, isToMany: true)
        owner.inverseRelationship = members
        members.inverseRelationship = owner
        entry.declaredProperties.append(owner)
        folder.declaredProperties.append(members)
        model.entities = [entry, folder]
        return model
    }

    /// A model of many entities, each with the seven attributes and a link to the next.
    static func wide(_ count: Int) -> NSManagedObjectModel {
        let entities = (0..<count).map { described("Kind\($0)", attributes) }
        for (index, entity) in entities.enumerated() {
            let next = entities[(index + 1) % count]
            let forward = relationship("next", to: next, isToMany: false)
            let backward = relationship("former", to: entity, isToMany: true)
            forward.inverseRelationship = backward
            backward.inverseRelationship = forward
            entity.declaredProperties.append(forward)
            next.declaredProperties.append(backward)
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    private static let attributes: [(String, NSAttributeType)] = [
        ("amount", .doubleAttributeType), ("count", .integer64AttributeType),
        ("created", .dateAttributeType), ("isDone", .booleanAttributeType),
        ("key", .UUIDAttributeType), ("name", .stringAttributeType),
        ("note", .stringAttributeType),
    ]

    private static func described(
        _ name: String, _ attributes: [(String, NSAttributeType)]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        return entity
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, isToMany: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.isOptional = true
        relationship.maxCount = isToMany ? 0 : 1
        return relationship
    }
}
