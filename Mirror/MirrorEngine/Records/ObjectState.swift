internal import ObjectModel
internal import RecordWire
package import Stores

/// One object's values with its links as record names: the form in which devices compare and merge.
///
/// The arrays follow the slots of the entity's `EntityLayout`.
package struct ObjectState: Hashable, Sendable {
    package var entity: Int32
    package var attributes: [AttributeValue]
    package var toOnes: [NamedLink?]

    package init(entity: Int32, attributes: [AttributeValue], toOnes: [NamedLink?]) {
        self.entity = entity
        self.attributes = attributes
        self.toOnes = toOnes
    }

    /// An object of `layout` that has no value at all.
    package init(empty layout: EntityLayout) {
        self.init(
            entity: layout.number,
            attributes: Array(repeating: .null, count: layout.attributes.count),
            toOnes: Array(repeating: nil, count: layout.toOnes.count))
    }
}

/// A to-one end by record name, with its place where the inverse is ordered.
package struct NamedLink: Hashable, Sendable {
    package var recordName: String
    package var orderKey: Int64?

    package init(_ recordName: String, orderKey: Int64? = nil) {
        self.recordName = recordName
        self.orderKey = orderKey
    }

    /// Whether it leads to the object of this name, at whatever place.
    func leads(to name: String) -> Bool { recordName.isExactly(name) }

    /// Names are equal by their bytes, as the service keeps them apart.
    package static func == (one: NamedLink, other: NamedLink) -> Bool {
        one.leads(to: other.recordName) && one.orderKey == other.orderKey
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactName(recordName))
        hasher.combine(orderKey)
    }
}

/// A property of an object by its slot.
package enum PropertySlot: Hashable, Sendable {
    case attribute(Int)
    case toOne(Int)

    package func name(in layout: EntityLayout) -> String {
        switch self {
        case .attribute(let slot): layout.attributes[slot].name
        case .toOne(let slot): layout.toOnes[slot].name
        }
    }

    /// As the history names it: of an element of a composite, the composite.
    func property(in layout: EntityLayout) -> String {
        String(name(in: layout).prefix { $0 != "." })
    }
}

extension ObjectState {
    /// The properties in which this state differs from `other` (nil: those that are not empty).
    package func changes(from other: ObjectState?) -> [PropertySlot] {
        var slots: [PropertySlot] = []
        for slot in attributes.indices where attributes[slot] != other?.attributes[slot] ?? .null {
            slots.append(.attribute(slot))
        }
        for slot in toOnes.indices where toOnes[slot] != other?.toOnes[slot] {
            slots.append(.toOne(slot))
        }
        return slots
    }

    /// The changes that a deletion can meet: all but those of places. A place in a list is the
    /// list's, and whoever puts a neighbour in may move it.
    func edits(from other: ObjectState?) -> [PropertySlot] {
        changes(from: other).filter { change in
            guard case .toOne(let slot) = change, let link = toOnes[slot],
                let former = other?.toOnes[slot]
            else { return true }
            return !link.leads(to: former.recordName)
        }
    }
}
