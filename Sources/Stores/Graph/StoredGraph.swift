internal import Foundation

/// All that an atomic store's file says, as it says it: no model is needed to read it.
public struct StoredGraph {
    /// The store's UUID.
    public var identifier: String
    /// The highest key that was ever handed out. Keys are unique in the whole file.
    public var lastKey: Int64
    /// The application's metadata and the store's own, without the UUID.
    public var metadata: [String: Any] = [:]
    /// In the order of the file.
    public var objects: [StoredObject] = []

    /// A file without objects. The first key of Apple's files is 102.
    public init(identifier: String, lastKey: Int64 = 101) {
        self.identifier = identifier
        self.lastKey = lastKey
    }
}

/// One object of an atomic store's file. Names are spelled as in the file: XML stores write
/// entities in upper case and properties in lower case.
public struct StoredObject: Equatable, Sendable {
    /// The entity's name as the file spells it.
    public var entity: String
    /// Unique in the file, whatever the entity.
    public var key: Int64
    /// The attributes that have a value.
    public var attributes: [StoredAttribute] = []
    /// Every relationship of the entity, those without members too.
    public var relationships: [StoredRelationship] = []

    /// An object without values and links.
    public init(entity: String, key: Int64) {
        self.entity = entity
        self.key = key
    }

    /// The value of an attribute by its name in the file; null where it has none.
    public subscript(attribute name: String) -> AttributeValue {
        attributes.first { $0.name == name }?.value ?? .null
    }

    /// The keys a relationship leads to, by its name in the file.
    public subscript(relationship name: String) -> [Int64] {
        relationships.first { $0.name == name }?.targets ?? []
    }
}

/// One value with the type the file gives it.
public struct StoredAttribute: Equatable, Sendable {
    /// The attribute's name as the file spells it.
    public var name: String
    /// For example `int16`; see `StoredType`.
    public var type: String
    /// Read by the file's type; `null` is never written.
    public var value: AttributeValue

    /// `type` is the file's word for the attribute's type.
    public init(name: String, type: String, value: AttributeValue) {
        self.name = name
        self.type = type
        self.value = value
    }
}

/// One relationship of one object, in order where it is ordered.
public struct StoredRelationship: Equatable, Sendable {
    /// The relationship's name as the file spells it.
    public var name: String
    /// The model's bounds when the file was written.
    public var minCount: Int
    /// 1 for a to-one, 0 for a to-many without bound.
    public var maxCount: Int
    /// The destination entity, spelled as in the file.
    public var destination: String
    /// The keys of the members' objects.
    public var targets: [Int64] = []

    /// A relationship without members; `destination` is the entity's name in the file.
    public init(name: String, minCount: Int, maxCount: Int, destination: String) {
        self.name = name
        self.minCount = minCount
        self.maxCount = maxCount
        self.destination = destination
    }
}
