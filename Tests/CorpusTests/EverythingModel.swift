import MirrorTestKit
import ObjectModel

/// A model of our own with every kind of attribute and relationship, for machines without the
/// corpus, and for what no model of the corpus has.
enum EverythingModel {
    static func make() -> NSManagedObjectModel {
        let item = SampleModel.entity(
            "Item",
            [attribute("code", .stringAttributeType), attribute("made", .dateAttributeType)])
        item.isAbstract = true
        item.uniquenessConstraints = [["code"]]
        let book = SampleModel.entity("Book", everyAttribute() + [size(), transient()])
        let album = SampleModel.entity("Album", [attribute("tracks", .integer16AttributeType)])
        let film = SampleModel.entity("Film", awkwardNames())
        let box = SampleModel.entity("Box", [attribute("label", .stringAttributeType), count()])
        let tag = SampleModel.entity("Tag", [attribute("word", .stringAttributeType)])
        let person = SampleModel.entity(
            "Person",
            [attribute("first", .stringAttributeType), attribute("last", .stringAttributeType)])
        person.uniquenessConstraints = [["first", "last"]]
        let account = SampleModel.entity("Account", [attribute("number", .integer32AttributeType)])
        item.subentities = [book, film]
        book.subentities = [album]
        SampleModel.connect(box, "items", many: true, ordered: true, item, "box", many: false)
        SampleModel.connect(box, "inner", many: true, box, "outer", many: false)
        SampleModel.connect(item, "tags", many: true, ordered: true, tag, "items", many: true)
        SampleModel.connect(item, "sequels", many: true, item, "prequels", many: true)
        SampleModel.connect(person, "account", many: false, account, "owner", many: false)
        order(tag, "items")
        require(account, "owner")
        addOwnInverses(to: person)
        addOneWay(person, to: item)
        let model = NSManagedObjectModel()
        model.entities = [item, book, album, film, box, tag, person, account]
        return model
    }

    // MARK: Attributes

    private static func attribute(
        _ name: String, _ type: NSAttributeType
    ) -> NSAttributeDescription { SampleModel.attribute(name, type) }

    /// An optional and a required attribute of every type that a store can hold.
    private static func everyAttribute() -> [NSAttributeDescription] {
        NSAttributeType.allCases.filter {
            ![.undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType].contains($0)
        }.flatMap { type in
            let optional = attribute("optional\(type.rawValue)", type)
            let required = attribute("required\(type.rawValue)", type)
            required.isOptional = false
            optional.allowsExternalBinaryDataStorage = type == .binaryDataAttributeType
            return [optional, required]
        }
    }

    private static func size() -> NSCompositeAttributeDescription {
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        size.elements = [
            attribute("width", .decimalAttributeType), attribute("unit", .stringAttributeType),
        ]
        return size
    }

    private static func transient() -> NSAttributeDescription {
        let shown = attribute("shownTitle", .undefinedAttributeType)
        shown.isTransient = true
        return shown
    }

    /// How many items a box has, as the store counts them.
    private static func count() -> NSDerivedAttributeDescription {
        let count = NSDerivedAttributeDescription()
        count.name = "itemCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpressionText = "items.@count"
        return count
    }

    /// Names that mean something else in records, or are taken there with another type.
    private static func awkwardNames() -> [NSAttributeDescription] {
        [
            attribute("entityName", .stringAttributeType),
            attribute("recordName", .stringAttributeType),
            attribute("made_exact", .stringAttributeType),
            attribute("box_order", .stringAttributeType),
            attribute("size_unit", .dateAttributeType),
            attribute("optional100", .stringAttributeType),
        ]
    }

    // MARK: Relationships

    private static func order(_ entity: NSEntityDescription, _ name: String) {
        entity.relationshipsByName[name]?.isOrdered = true
    }

    private static func require(_ entity: NSEntityDescription, _ name: String) {
        entity.relationshipsByName[name]?.isOptional = false
        entity.relationshipsByName[name]?.deleteRule = .denyDeleteRule
    }

    /// Friends, ranked rivals, a spouse: relationships that are their own inverse.
    private static func addOwnInverses(to person: NSEntityDescription) {
        for (name, many, ordered) in [
            ("friends", true, false), ("rivals", true, true), ("spouse", false, false),
        ] {
            let relationship = oneWay(name, many: many, ordered: ordered, to: person)
            person.properties += [relationship]
            relationship.inverseRelationship = relationship
        }
    }

    /// Relationships without inverse: to-one, to-many, ordered to-many.
    private static func addOneWay(_ person: NSEntityDescription, to item: NSEntityDescription) {
        person.properties += [
            oneWay("boss", many: false, ordered: false, to: person),
            oneWay("favourites", many: true, ordered: false, to: item),
            oneWay("queue", many: true, ordered: true, to: item),
        ]
    }

    private static func oneWay(
        _ name: String, many: Bool, ordered: Bool, to destination: NSEntityDescription
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.maxCount = many ? 0 : 1
        relationship.isOrdered = ordered
        relationship.destinationEntity = destination
        return relationship
    }
}
