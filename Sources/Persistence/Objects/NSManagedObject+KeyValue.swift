public import Foundation
internal import ObjectModel

// Key-value coding beside the single value: paths and many keys at once. `NSObject` has none of it
// off Apple's platforms.
extension NSManagedObject {
    /// Sets the property at the end of a path; in each member, where the path leads through a
    /// collection. A path that leads nowhere sets nothing.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard shape.slot(keyPath) == nil, let dot = keyPath.lastIndex(of: ".") else {
            return setValue(value, forKey: keyPath)
        }
        let key = String(keyPath[keyPath.index(after: dot)...])
        let path = String(keyPath[..<dot])
        switch self.value(forKeyPath: path) {
        case let object as NSManagedObject: object.setValue(value, forKey: key)
        case let objects as Set<NSManagedObject>:
            for object in objects { object.setValue(value, forKey: key) }
        case let objects as NSOrderedSet:
            for case let object as NSManagedObject in objects.array {
                object.setValue(value, forKey: key)
            }
        default: break
        }
    }

    /// The values of several properties; `NSNull` for none.
    public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(
            keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
    }

    /// Sets several properties; `NSNull` empties one.
    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
            setValue(value is NSNull ? nil : value, forKey: key)
        }
    }

    /// A set that shows the to-many relationship at the end of a path, and writes through. Traps
    /// where there is none.
    public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
        let (owner, key) = owner(at: keyPath)
        return owner.mutableSetValue(forKey: key)
    }

    /// An ordered set that shows the ordered relationship at the end of a path, and writes through.
    /// Traps where there is none.
    public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
        let (owner, key) = owner(at: keyPath)
        return owner.mutableOrderedSetValue(forKey: key)
    }

    private func owner(at keyPath: String) -> (NSManagedObject, String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
        let key = String(keyPath[keyPath.index(after: dot)...])
        guard let owner = value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject else {
            ProgrammingMistake.notToMany(keyPath, of: entity.name)
        }
        return (owner, key)
    }

    /// The property that `primitiveTitle` stands for, which is `title`: classes declare such
    /// accessors beside a computed property.
    final func primitiveKey(_ key: String) -> String? {
        let prefix = "primitive"
        guard key.hasPrefix(prefix) else { return nil }
        let rest = key.dropFirst(prefix.count)
        let name = rest.prefix(1).lowercased() + rest.dropFirst()
        return [name, String(rest)].first { !$0.isEmpty && shape.slot($0) != nil }
    }

    /// What every object says of itself, whatever its model.
    final func ownValue(forKey key: String) -> Any? {
        switch key {
        case "self": self
        case "objectID": objectID
        case "entity": entity
        case "managedObjectContext": managedObjectContext
        case "isInserted", "inserted": isInserted
        case "isUpdated", "updated": isUpdated
        case "isDeleted", "deleted": isDeleted
        case "isFault", "fault": isFault
        case "hasChanges": hasChanges
        case "hasPersistentChangedValues": hasPersistentChangedValues
        case "faultingState": faultingState
        case "description": description
        default: nil
        }
    }
}
