public import ObjectModel

/// Where each persistent property of an entity stands in a row's arrays. Slots are in name order
/// (code points), inherited properties included. Transient and fetched properties have none. Queue:
/// any; it never changes.
public final class EntityLayout: Sendable {
    /// An attribute's slot. An element of a composite is `composite.element`.
    public struct AttributeSlot: Sendable {
        /// As in the model, or `composite.element`.
        public let name: String
        /// The attribute's, or the element's own description.
        public let attribute: NSAttributeDescription
    }

    /// The entity's name, as in the model.
    public let name: String
    /// The entity's number in the store (Z_ENT), by which rows name it.
    public let number: Int32
    /// The description it was made of.
    public let entity: NSEntityDescription
    /// The slots of `Row.attributes`.
    public let attributes: [AttributeSlot]
    /// The slots of `Row.toOnes`.
    public let toOnes: [NSRelationshipDescription]
    /// The slots by which members are asked for; rows do not hold them.
    public let toManys: [NSRelationshipDescription]
    /// Whether the to-one at the same slot has an ordered to-many as its inverse, so that its links
    /// carry an order key.
    public let toOneIsOrdered: [Bool]
    private let attributeSlots: [String: Int]
    private let toOneSlots: [String: Int]
    private let toManySlots: [String: Int]

    /// Works the slots out. Cost: O(properties).
    public init(entity: NSEntityDescription, number: Int32) {
        self.entity = entity
        self.number = number
        name = entity.name ?? ""
        let stored = entity.propertiesByName.values.filter { !$0.isTransient }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        attributes = stored.compactMap { $0 as? NSAttributeDescription }.flatMap(Self.slots(of:))
        let relationships = stored.compactMap { $0 as? NSRelationshipDescription }
        toOnes = relationships.filter { !$0.isToMany }
        toManys = relationships.filter(\.isToMany)
        toOneIsOrdered = toOnes.map {
            $0.inverseRelationship.map { $0.isToMany && $0.isOrdered } ?? false
        }
        attributeSlots = Self.index(attributes.map(\.name))
        toOneSlots = Self.index(toOnes.map(\.name))
        toManySlots = Self.index(toManys.map(\.name))
    }

    /// The slot in `attributes`; nil for any other name. Cost: one look into a dictionary.
    public func attributeSlot(_ name: String) -> Int? { attributeSlots[name] }
    /// The slot in `toOnes`; nil for any other name.
    public func toOneSlot(_ name: String) -> Int? { toOneSlots[name] }
    /// The slot in `toManys`; nil for any other name.
    public func toManySlot(_ name: String) -> Int? { toManySlots[name] }

    private static func slots(of attribute: NSAttributeDescription) -> [AttributeSlot] {
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            return [AttributeSlot(name: attribute.name, attribute: attribute)]
        }
        return composite.elements.flatMap(slots(of:)).map {
            AttributeSlot(name: "\(composite.name).\($0.name)", attribute: $0.attribute)
        }
    }

    private static func index(_ names: [String]) -> [String: Int] {
        Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
