internal import Foundation
public import ObjectModel
public import Predicates

/// The entities that requests over the history name. No store holds objects of them.
enum HistoryEntities {
    static let transactionName = "Transaction"
    static let changeName = "Change"

    private static let model: NSManagedObjectModel = {
        let transaction = entity(
            transactionName, "NSPersistentHistoryTransaction",
            [
                ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
                ("contextName", .stringAttributeType), ("processID", .stringAttributeType),
                ("storeID", .stringAttributeType), ("timestamp", .dateAttributeType),
                ("token", .transformableAttributeType),
                ("transactionNumber", .integer64AttributeType),
            ])
        let change = entity(
            changeName, "NSPersistentHistoryChange",
            [
                ("changeID", .integer64AttributeType), ("changeType", .integer32AttributeType),
                ("changedEntity", .stringAttributeType),
                ("changedObjectID", .objectIDAttributeType),
                ("tombstone", .transformableAttributeType),
                ("updatedProperties", .transformableAttributeType),
            ])
        link(transaction, change)
        let model = NSManagedObjectModel()
        model.entities = [transaction, change]
        model.freeze()
        return model
    }()

    static func entity(_ name: String) -> NSEntityDescription? { model.entitiesByName[name] }

    private static func entity(
        _ name: String, _ className: String, _ attributes: [(String, NSAttributeType)]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = className
        entity.declaredProperties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        return entity
    }

    private static func link(_ transaction: NSEntityDescription, _ change: NSEntityDescription) {
        let (changes, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        changes.name = "changes"
        changes.destinationEntity = change
        back.name = "transaction"
        back.destinationEntity = transaction
        back.maxCount = 1
        (changes.inverseRelationship, back.inverseRelationship) = (back, changes)
        transaction.declaredProperties.append(changes)
        change.declaredProperties.append(back)
    }
}

extension NSPersistentHistoryTransaction: KeyValueReading {
    /// What requests for transactions name: `author`, `bundleID`, `contextName`, `processID`,
    /// `storeID`, `timestamp`, `token`, `transactionNumber`, and `changes`.
    public class var entityDescription: NSEntityDescription? {
        HistoryEntities.entity(HistoryEntities.transactionName)
    }

    /// What requests for transactions name; the same for every context.
    public class func entityDescription(
        with context: NSManagedObjectContext
    ) -> NSEntityDescription? { entityDescription }

    /// A new request for transactions; give it a predicate, and hand it to
    /// `NSPersistentHistoryChangeRequest.fetchHistory(withFetch:)`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        entityDescription.map { NSFetchRequest(entity: $0) }
    }

    /// The value of a property, for predicates. Throws `EvaluationError` for any other key.
    public func value(forKey key: String) throws -> Any? {
        switch key {
        case "author": author
        case "bundleID": bundleID
        case "contextName": contextName
        case "processID": processID
        case "storeID": storeID
        case "timestamp": timestamp
        case "token": token
        case "transactionNumber": transactionNumber
        case "changes": changes
        default:
            throw EvaluationError(
                .unknownKey, "A transaction of the history has no property \(key).",
                fields: ["key": key])
        }
    }
}

extension NSPersistentHistoryChange: KeyValueReading {
    /// What requests for changes name: `changeID`, `changeType`, `changedEntity` (its name),
    /// `changedObjectID`, `tombstone`, `updatedProperties`, and `transaction`.
    public class var entityDescription: NSEntityDescription? {
        HistoryEntities.entity(HistoryEntities.changeName)
    }

    /// What requests for changes name; the same for every context.
    public class func entityDescription(
        with context: NSManagedObjectContext
    ) -> NSEntityDescription? { entityDescription }

    /// A new request for changes; give it a predicate, and hand it to
    /// `NSPersistentHistoryChangeRequest.fetchHistory(withFetch:)`.
    public class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        entityDescription.map { NSFetchRequest(entity: $0) }
    }

    /// The value of a property, for predicates. Throws `EvaluationError` for any other key.
    public func value(forKey key: String) throws -> Any? {
        switch key {
        case "changeID": changeID
        case "changeType": changeType.rawValue
        case "changedEntity": changedObjectID.entity.name
        case "changedObjectID": changedObjectID
        case "tombstone": tombstone
        case "updatedProperties": updatedProperties?.map(\.name)
        case "transaction": transaction
        default:
            throw EvaluationError(
                .unknownKey, "A change of the history has no property \(key).",
                fields: ["key": key])
        }
    }
}
