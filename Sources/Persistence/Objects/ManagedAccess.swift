public import Foundation
internal import ObjectModel
internal import Stores

// What the accessors of `@NSManaged` members call. The types with a short way have it here; all
// others take `managedValue(forKey:)` and `setManagedValue(_:forKey:)` of any type.
extension NSManagedObject {
    // MARK: Numbers

    /// A whole number; 0 where the value is missing.
    @inlinable
    public final func managedValue<Number: FixedWidthInteger & SignedInteger>(
        forKey key: String
    ) -> Number {
        if let value = plainInteger(key), let number = Number(exactly: value) { return number }
        return convertedValue(forKey: key)
    }

    /// A truth value; false where the value is missing.
    public final func managedValue(forKey key: String) -> Bool {
        if let value = plainInteger(key) { return value != 0 }
        return convertedValue(forKey: key)
    }

    /// A number; 0 where the value is missing. A `TimeInterval` declared for a date reads the
    /// seconds since 2001-01-01 UTC.
    public final func managedValue(forKey key: String) -> Double {
        quickValue(key) { slot in
            switch attribute(at: slot) {
            case .double(let number), .date(let number): number
            case .null, .integer, .decimal, .text, .uuid, .uri, .data: nil
            }
        }
    }

    /// A number; 0 where the value is missing.
    public final func managedValue(forKey key: String) -> Float {
        quickValue(key) { slot in
            if case .double(let number) = attribute(at: slot) { Float(number) } else { nil }
        }
    }

    /// Sets a whole number.
    public final func setManagedValue<Number: FixedWidthInteger & SignedInteger>(
        _ value: Number, forKey key: String
    ) {
        let integer = Int64(value)
        if !setPlain(integer, key) { setValue(integer, forKey: key) }
    }

    /// Sets a number. A `TimeInterval` declared for a date sets the date.
    public final func setManagedValue(_ value: Double, forKey key: String) {
        if setPlain(value, key) { return }
        if case .attribute(let slot) = shape.slot(key),
            shape.layout.attributes[slot].attribute.attributeType == .dateAttributeType
        {
            return setValue(Date(timeIntervalSinceReferenceDate: value), forKey: key)
        }
        setValue(value, forKey: key)
    }

    // MARK: Texts and dates

    /// A text; nil where the value is missing.
    public final func managedValue(forKey key: String) -> String? {
        quickValue(key) { slot -> String?? in
            switch attribute(at: slot) {
            case .null: .some(nil)
            case .text(let text): text
            case .integer, .double, .decimal, .date, .uuid, .uri, .data: nil
            }
        }
    }

    /// A date; nil where the value is missing.
    public final func managedValue(forKey key: String) -> Date? {
        quickValue(key) { slot -> Date?? in
            switch attribute(at: slot) {
            case .null: .some(nil)
            case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
            case .integer, .double, .decimal, .text, .uuid, .uri, .data: nil
            }
        }
    }

    // MARK: Enumerations

    /// An enumeration kept as its raw value. For one that is none of its cases, as another version
    /// of the app may write, it is the case of the model's default, or the first that there is;
    /// what is stored stays. Declare it optional to be told. Traps where there is neither: an
    /// enumeration of texts needs a default in the model, or to be `CaseIterable`.
    public final func managedValue<Value: RawRepresentable>(forKey key: String) -> Value {
        if let record = AccessRecord.current, let found: Value = probedCase(key, record) {
            return found
        }
        let raw: Value.RawValue = managedValue(forKey: key)
        guard let value = Value(rawValue: raw) ?? initialCase(key) else {
            ProgrammingMistake.unknownCase(
                key, of: entity.name, found: raw, declared: Value.self)
        }
        return value
    }

    /// An enumeration kept as its raw value; nil where there is none, or none of its cases.
    public final func managedValue<Value: RawRepresentable>(forKey key: String) -> Value? {
        if let record = AccessRecord.current { return probedCase(key, record) }
        let raw: Value.RawValue? = managedValue(forKey: key)
        return raw.flatMap(Value.init(rawValue:))
    }

    /// Keeps the raw value of an enumeration.
    public final func setManagedValue<Value: RawRepresentable>(_ value: Value, forKey key: String) {
        setManagedValue(value.rawValue, forKey: key)
    }

    /// Keeps the raw value of an enumeration, or nothing.
    public final func setManagedValue<Value: RawRepresentable>(_ value: Value?, forKey key: String)
    {
        setManagedValue(value?.rawValue, forKey: key)
    }

    // MARK: Primitive values

    /// The value without access notices, as `primitiveName` properties read it.
    public final func managedPrimitiveValue<Value>(forKey key: String) -> Value {
        typed(primitiveValue(forKey: key), key)
    }

    /// Sets the value without change notices, as `primitiveName` properties do.
    public final func setManagedPrimitiveValue<Value>(_ value: Value, forKey key: String) {
        setPrimitiveValue(present(value), forKey: key)
    }

    // MARK: To-many relationships

    /// Adds all members of a collection, as `addToTags(_:)` does.
    public final func addObjects(_ objects: some Sequence, toRelationshipNamed key: String) {
        for case let object as NSManagedObject in objects {
            addObject(object, toRelationshipNamed: key)
        }
    }

    /// Removes all members of a collection, as `removeFromTags(_:)` does.
    public final func removeObjects(_ objects: some Sequence, fromRelationshipNamed key: String) {
        for case let object as NSManagedObject in objects {
            removeObject(object, fromRelationshipNamed: key)
        }
    }

    /// Inserts an object into an ordered relationship, as `insertIntoTags(_:at:)` does.
    public final func insertObject(
        _ object: NSManagedObject, at index: Int, inRelationshipNamed key: String
    ) {
        mutableOrderedSetValue(forKey: key).insert(object, at: index)
    }

    /// Inserts objects, each at the place that `indexes` gives it in the result.
    public final func insertObjects(
        _ objects: [NSManagedObject], at indexes: NSIndexSet, inRelationshipNamed key: String
    ) {
        let members = mutableOrderedSetValue(forKey: key)
        for (object, index) in zip(objects, IndexSet(indexes)) { members.insert(object, at: index) }
    }

    /// Removes the member at `index` of an ordered relationship, as `removeFromTags(at:)` does.
    public final func removeObject(at index: Int, fromRelationshipNamed key: String) {
        mutableOrderedSetValue(forKey: key).removeObject(at: index)
    }

    /// Removes the members at `indexes` of an ordered relationship.
    public final func removeObjects(at indexes: NSIndexSet, fromRelationshipNamed key: String) {
        let members = mutableOrderedSetValue(forKey: key)
        for index in IndexSet(indexes).reversed() { members.removeObject(at: index) }
    }

    /// Puts `object` in the place of the member at `index`, as `replaceTags(at:with:)` does.
    public final func replaceObject(
        at index: Int, with object: NSManagedObject, inRelationshipNamed key: String
    ) {
        mutableOrderedSetValue(forKey: key).replaceObject(at: index, with: object)
    }

    /// Puts objects in the places of the members at `indexes`.
    public final func replaceObjects(
        at indexes: NSIndexSet, with objects: [NSManagedObject], inRelationshipNamed key: String
    ) {
        let members = mutableOrderedSetValue(forKey: key)
        for (object, index) in zip(objects, IndexSet(indexes)) {
            members.replaceObject(at: index, with: object)
        }
    }

    // MARK: How

    /// The value of a slot as `convert` reads it; where it cannot, the long way.
    private func quickValue<Value>(_ key: String, _ convert: (Int) -> Value?) -> Value {
        guard !AccessRecord.isInUse else { return convertedValue(forKey: key) }
        willAccessValue(forKey: key)
        guard extras?.misfits.isEmpty ?? true, let slot = shape.attributeSlot(key),
            let value = convert(slot)
        else { return convertedValue(forKey: key) }
        didAccessValue(forKey: key)
        return value
    }
}
