public import Foundation
internal import ObjectModel
internal import Stores

/// A property of a managed object class, written by hand: `@Managed("name") var name: String?`.
///
/// Reads and writes go through the object's values, with access and change notices. A missing value
/// of a non-optional scalar reads as zero.
@propertyWrapper
public struct Managed<Value> {
    @usableFromInline let key: String

    /// A property under the model's name.
    @inlinable
    public init(_ key: String) { self.key = key }

    /// Only objects have values; the wrapper alone has none.
    @available(
        *, unavailable, message: "@Managed works on properties of NSManagedObject subclasses"
    )
    /// Ends the program: the wrapper works as a property of a managed object's class only, where
    /// the compiler asks `subscript(_enclosingInstance:wrapped:storage:)` instead.
    public var wrappedValue: Value {
        get { ProgrammingMistake.wrapperOutsideObject() }
        set { ProgrammingMistake.wrapperOutsideObject() }
    }

    /// What the compiler calls for a property: the object's value of the property's name, with all
    /// that `value(forKey:)` and `setValue(_:forKey:)` do. Queue: the context's.
    @inlinable
    public static subscript<Owner: NSManagedObject>(
        _enclosingInstance object: Owner,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Managed<Value>>
    ) -> Value {
        get { object.managedValue(forKey: object[keyPath: storageKeyPath].key) }
        set { object.setManagedValue(newValue, forKey: object[keyPath: storageKeyPath].key) }
    }
}

extension NSManagedObject {
    /// The value of a property in the type a declaration gives it. For generated and hand-written
    /// accessors.
    ///
    /// A missing value is nil for an optional, and zero, false or empty for a scalar, text or
    /// collection; for other types it traps, as does a value of another type than the declared one.
    /// A whole number that is too wide for the declared type is cut to its width.
    @inlinable
    public final func managedValue<Value>(forKey key: String) -> Value {
        if let value: Value = plainValue(forKey: key) { return value }
        return convertedValue(forKey: key)
    }

    /// The value of a type with a short way; nil where only the long way will do. Where `Value` is
    /// known to the compiler, all of this is one call.
    @inlinable
    final func plainValue<Value>(forKey key: String) -> Value? {
        if Value.self == String?.self || Value.self == String.self {
            return same(plainText(key))
        }
        if Value.self == Int64.self { return same(plainInteger(key)) }
        if Value.self == Bool.self { return same(plainInteger(key).map { $0 != 0 }) }
        if Value.self == Double.self { return same(plainDouble(key)) }
        if Value.self == Date?.self || Value.self == Date.self { return same(plainDate(key)) }
        if Value.self == UUID?.self || Value.self == UUID.self { return same(plainUUID(key)) }
        if Value.self == Int.self { return same(plainInteger(key).flatMap(Int.init(exactly:))) }
        if Value.self == Int32.self { return same(plainInteger(key).flatMap(Int32.init(exactly:))) }
        if Value.self == Int16.self { return same(plainInteger(key).flatMap(Int16.init(exactly:))) }
        return nil
    }

    /// A value as `Value`, which is its own type or the optional of it.
    @inlinable
    final func same<Known, Value>(_ value: Known?) -> Value? {
        guard let value else { return nil }
        if Value.self == Known.self { return unsafeBitCast(value, to: Value.self) }
        if Value.self == Known?.self {
            return unsafeBitCast(Optional(value), to: Value.self)
        }
        return nil
    }

    /// `managedValue(forKey:)` the long way.
    @usableFromInline
    final func convertedValue<Value>(forKey key: String) -> Value {
        if let record = AccessRecord.current { return probed(key, record) }
        willAccessValue(forKey: key)
        defer { didAccessValue(forKey: key) }
        if case .attribute(let slot) = shape.slot(key),
            let quick: Value = plain(attribute(at: slot))
        {
            return quick
        }
        return typed(primitiveValue(forKey: key), key)
    }

    /// `value` as the declaration has it; see `managedValue(forKey:)`.
    final func typed<Value>(_ value: Any?, _ key: String) -> Value {
        if let value, let typed = value as? Value { return typed }
        if let value, let text = value as? String, let other = text as? Value { return other }
        if let value, let number: Value = converted(value) { return number }
        if value == nil || isTransformable(key) {
            if let none = Optional<Any>.none as Any as? Value { return none }
            if let zero = zero(as: Value.self) { return zero }
        }
        ProgrammingMistake.mistypedProperty(
            key, of: entity.name, found: value, declared: Value.self)
    }

    /// Whether any file decides of what class the value is.
    private func isTransformable(_ key: String) -> Bool {
        guard case .attribute(let slot) = shape.slot(key) else { return false }
        let type = shape.layout.attributes[slot].attribute.attributeType
        return type == .transformableAttributeType
    }

    /// Sets a property from the type a declaration gives it. For generated and hand-written
    /// accessors.
    @inlinable
    public final func setManagedValue<Value>(_ value: Value, forKey key: String) {
        if !setPlainValue(value, forKey: key) { setConverted(value, forKey: key) }
    }

    /// Sets a value of a type with a short way; false where only the long way will do.
    @inlinable
    final func setPlainValue<Value>(_ value: Value, forKey key: String) -> Bool {
        func known<Known>(_: Known.Type) -> Known { unsafeBitCast(value, to: Known.self) }
        if Value.self == String?.self { return setPlain(known(String?.self), key) }
        if Value.self == String.self { return setPlain(known(String.self), key) }
        if Value.self == Int64.self { return setPlain(known(Int64.self), key) }
        if Value.self == Bool.self { return setPlain(known(Bool.self), key) }
        if Value.self == Double.self { return setPlain(known(Double.self), key) }
        if Value.self == Date?.self { return setPlain(known(Date?.self), key) }
        if Value.self == Date.self { return setPlain(known(Date.self), key) }
        if Value.self == UUID?.self { return setPlain(known(UUID?.self), key) }
        if Value.self == UUID.self { return setPlain(known(UUID.self), key) }
        if Value.self == Int.self { return setPlain(Int64(known(Int.self)), key) }
        if Value.self == Int32.self { return setPlain(Int64(known(Int32.self)), key) }
        if Value.self == Int16.self { return setPlain(Int64(known(Int16.self)), key) }
        return false
    }

    @usableFromInline
    final func setConverted<Value>(_ value: Value, forKey key: String) {
        setValue(present(value), forKey: key)
    }

    /// `value` as an object takes it: an empty optional is no value.
    final func present<Value>(_ value: Value) -> Any? {
        let isNil =
            Value.self is any OptionalValue.Type && (value as? any OptionalValue)?.isNone == true
        return isNil ? nil : value
    }

    /// Values whose stored and declared types are the same, without a detour.
    private func plain<Value>(_ value: AttributeValue) -> Value? {
        if extras?.misfits.isEmpty == false { return nil }
        switch value {
        case .text(let text): return text as? Value
        case .integer(let integer):
            if Value.self == Int64.self { return integer as? Value }
            if Value.self == Bool.self { return (integer != 0) as? Value }
            if Value.self == Int.self { return Int(integer) as? Value }
            return nil
        case .double(let double): return Value.self == Double.self ? double as? Value : nil
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds) as? Value
        case .uuid(let uuid): return uuid as? Value
        case .decimal(let decimal): return decimal as? Value
        case .null, .uri, .data: return nil
        }
    }

    private func zero<Value>(as type: Value.Type) -> Value? {
        let candidates: [Any] = [
            NSNumber(value: 0), false, "", Data(), Decimal(), CGFloat(), Set<NSManagedObject>(),
            NSOrderedSet(),
            NSSet(), [NSManagedObject](), [String: Any](),
        ]
        for candidate in candidates {
            if let zero = candidate as? Value { return zero }
        }
        return nil
    }
}

/// Tells an optional that is empty, whatever it wraps.
private protocol OptionalValue {
    var isNone: Bool { get }
}

extension Optional: OptionalValue {
    var isNone: Bool { self == nil }
}
