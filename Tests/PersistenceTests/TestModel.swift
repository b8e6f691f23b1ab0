import CoreData
import Foundation

/// The model most tests of this target use: every kind of relationship and delete rule.
enum TestModel {
    static func make() -> NSManagedObjectModel {
        let person = entity("Person", of: Person.self)
        let employee = entity("Employee", of: Employee.self)
        let department = entity("Department")
        let passport = entity("Passport")
        let project = entity("Project")
        let playlist = entity("Playlist")
        let song = entity("Song")
        let tag = entity("Tag")
        let account = entity("Account")

        var personProperties: [NSPropertyDescription] = [
            attribute("name", .stringAttributeType, optional: false),
            attribute("age", .integer16AttributeType, minimum: "0", maximum: "150", default: 0),
            attribute("email", .stringAttributeType, pattern: ".+@.+"),
            attribute("nick", .stringAttributeType, minimum: "2", maximum: "8"),
            attribute("birthday", .dateAttributeType, minimum: "-1000000"),
            attribute("score", .doubleAttributeType),
            attribute("active", .booleanAttributeType, default: true),
            attribute("key", .UUIDAttributeType),
            attribute("photo", .binaryDataAttributeType),
            attribute("site", .URIAttributeType),
            attribute("balance", .decimalAttributeType),
            attribute("colors", .transformableAttributeType),
        ]
        let scratch = attribute("scratch", .stringAttributeType)
        scratch.isTransient = true
        personProperties.append(scratch)
        person.properties = personProperties
        employee.properties = [attribute("salary", .integer32AttributeType)]
        person.subentities = [employee]
        for named in [department, passport, project, playlist, song, tag] {
            named.properties = [attribute("name", .stringAttributeType)]
        }
        let address = attribute("email", .stringAttributeType)
        account.properties = [address, attribute("note", .stringAttributeType)]
        account.uniquenessConstraints = [["email"]]

        link(person, "department", .one, department, "employees", .many)
        link(person, "spouse", .one, person, "spouse", .one)
        link(person, "friends", .many, person, "friends", .many)
        link(person, "manager", .one, person, "reports", .many)
        link(person, "passport", .one, passport, "holder", .one, rule: .cascadeDeleteRule)
        link(person, "projects", .many, project, "members", .many)
        link(playlist, "songs", .ordered, song, "playlist", .one, rule: .cascadeDeleteRule)
        link(department, "lead", .one, person, "leads", .one, rule: .denyDeleteRule)
        link(project, "owner", .one, person, "owned", .many, back: .noActionDeleteRule)
        link(playlist, "hits", .ordered, tag, "playlists", .many)
        person.declaredProperties.append(relationship("tags", .many, to: tag))
        person.declaredProperties.append(relationship("home", .one, to: tag))
        link(account, "rewards", .many, tag, "account", .one)

        let model = NSManagedObjectModel()
        model.entities = [
            person, employee, department, passport, project, playlist, song, tag, account,
        ]
        return model
    }

    enum Side { case one, many, ordered }

    static func entity(
        _ name: String, of type: NSManagedObject.Type = NSManagedObject.self
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        if type != NSManagedObject.self {
            // With its module: other test modules of the process have classes of the same names.
            entity.managedObjectClassName = String(reflecting: type)
        }
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, minimum: String? = nil,
        maximum: String? = nil, pattern: String? = nil, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        attribute.validation = AttributeValidation(
            minimum: minimum, maximum: maximum, regularExpression: pattern)
        return attribute
    }

    static func relationship(
        _ name: String, _ side: Side, to entity: NSEntityDescription,
        rule: NSDeleteRule = .nullifyDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = side == .one ? 1 : 0
        relationship.isOrdered = side == .ordered
        relationship.deleteRule = rule
        return relationship
    }

    static func link(
        _ first: NSEntityDescription, _ name: String, _ side: Side, _ second: NSEntityDescription,
        _ backName: String, _ backSide: Side, rule: NSDeleteRule = .nullifyDeleteRule,
        back: NSDeleteRule = .nullifyDeleteRule
    ) {
        let forward = relationship(name, side, to: second, rule: rule)
        first.declaredProperties.append(forward)
        guard first !== second || name != backName else {
            forward.inverseRelationship = forward
            return
        }
        let backward = relationship(backName, backSide, to: first, rule: back)
        second.declaredProperties.append(backward)
        forward.inverseRelationship = backward
        backward.inverseRelationship = forward
    }
}

class Person: NSManagedObject {
    @Managed("name") var name: String?
    @Managed("age") var age: Int16
    @Managed("active") var isActive: Bool
    @Managed("score") var score: Double
    @Managed("birthday") var birthday: Date?
    @Managed("colors") var colors: [String]?
    @Managed("spouse") var spouse: Person?
    @Managed("friends") var friends: Set<Person>
    @Managed("department") var department: NSManagedObject?

    var calls: [String] = []

    override func awakeFromInsert() { calls.append("awakeFromInsert") }
    override func awakeFromFetch() { calls.append("awakeFromFetch") }
    override func willSave() { calls.append("willSave") }
    override func didSave() { calls.append("didSave") }
    override func prepareForDeletion() { calls.append("prepareForDeletion") }
}

final class Employee: Person {
    @Managed("salary") var salary: Int32
}
