internal import Foundation

/// Computes version hashes, each entity's once, and that of each property that is inherited.
///
/// The rule was found by comparing Apple's files; see the reference on formats. A value of this
/// type lives for one computation, since descriptions may change afterwards.
struct VersionHashing {
    private var entityHashes: [ObjectIdentifier: [UInt8]]
    private var propertyHashes: [ObjectIdentifier: [UInt8]] = [:]
    /// What is hashed at the moment, then its hash; one piece of memory for all properties.
    private var message: [UInt8] = []

    /// `known` holds hashes that are taken as given, for example of parents seen elsewhere.
    init(known: [ObjectIdentifier: [UInt8]] = [:]) {
        entityHashes = known
        message.reserveCapacity(128)
    }

    /// The 32-byte hash of an entity: its name, its ancestors and all its persistent properties.
    mutating func hash(of entity: NSEntityDescription) -> [UInt8] {
        if let hash = entityHashes[ObjectIdentifier(entity)] { return hash }
        var whole: [UInt8] = []
        whole.reserveCapacity(32 * (entity.declaredProperties.count + 4))
        whole += (entity.name ?? "").utf8
        whole.append(entity.isAbstract ? 1 : 0)
        if let parent = entity.superentity { whole += hash(of: parent) }
        for property in Self.inNameOrder(entity)
        where !property.isTransient && !(property is NSFetchedPropertyDescription) {
            append(property, to: &whole)
        }
        if let modifier = entity.versionHashModifier { whole += modifier.utf8 }
        let constraints = entity.uniquenessConstraintNames.map { $0.joined(separator: ".") }
        for constraint in constraints.sorted(by: Self.precedes) {
            whole += constraint.utf8
        }
        SHA2.replaceBySHA256(&whole)
        if !entity.subentities.isEmpty { entityHashes[ObjectIdentifier(entity)] = whole }
        return whole
    }

    /// The 32-byte hash of a property. Transient and fetched ones have one too, but entities pass
    /// over it.
    mutating func hash(of property: NSPropertyDescription) -> [UInt8] {
        var hash: [UInt8] = []
        append(property, to: &hash)
        return hash
    }

    /// Appends the hash of a property to those before it.
    private mutating func append(_ property: NSPropertyDescription, to hashes: inout [UInt8]) {
        if !propertyHashes.isEmpty, let hash = propertyHashes[ObjectIdentifier(property)] {
            hashes += hash
            return
        }
        compute(property)
        hashes += message
        if !property.entity.subentities.isEmpty {
            propertyHashes[ObjectIdentifier(property)] = message
        }
    }

    /// Makes `message` the hash of a property.
    private mutating func compute(_ property: NSPropertyDescription) {
        switch property {
        case let derived as NSDerivedAttributeDescription:
            message = Array(Self.hashedText(of: derived).utf8)
        case let composite as NSCompositeAttributeDescription: begin(composite)
        case let attribute as NSAttributeDescription: begin(attribute)
        case let relationship as NSRelationshipDescription: begin(relationship)
        default: beginPlain(property)
        }
        SHA2.replaceBySHA256(&message)
    }

    // MARK: What is hashed of properties

    private mutating func beginPlain(_ property: NSPropertyDescription) {
        message.removeAll(keepingCapacity: true)
        message += property.name.utf8
        message.append(property.isOptional ? 1 : 0)
        message.append(property.marks.contains(.readOnly) ? 1 : 0)
        if let modifier = property.versionHashModifier { message += modifier.utf8 }
    }

    private mutating func begin(_ attribute: NSAttributeDescription) {
        beginPlain(attribute)
        SHA2.replaceBySHA256(&message)
        Self.append(Int(attribute.attributeType.rawValue), to: &message)
        if attribute.allowsExternalBinaryDataStorage { message.append(1) }
        if attribute.preservesValueInHistoryOnDeletion { message.append(1) }
    }

    private mutating func begin(_ relationship: NSRelationshipDescription) {
        beginPlain(relationship)
        SHA2.replaceBySHA256(&message)
        message += (relationship.destinationEntityName ?? "").utf8
        let inverse = relationship.inverseRelationship
        if inverse !== relationship { message += (inverse?.name ?? "").utf8 }
        Self.append(relationship.givenCounts.max, to: &message)
        Self.append(relationship.givenCounts.min, to: &message)
        if relationship.isOrdered { message += [1, 0] }
    }

    private mutating func begin(_ composite: NSCompositeAttributeDescription) {
        var hashes: [UInt8] = []
        for element in composite.elements.sorted(by: Self.precedes) {
            append(element, to: &hashes)
        }
        message = hashes
    }

    /// The derivation as the hash sees it: functions in front, for example `count:(pages)`.
    static func hashedText(of derived: NSDerivedAttributeDescription) -> String {
        let text = (derived.derivationExpressionText ?? "").trimmingCharacters(in: .whitespaces)
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let place = parts.firstIndex(where: { $0.hasPrefix("@") }) else { return text }
        let operand = (parts[..<place] + parts[(place + 1)...]).joined(separator: ".")
        let name = parts[place] == "@avg" ? "average" : parts[place].dropFirst()
        return "\(name):(\(operand))"
    }

    // MARK: Order and bytes

    /// The properties of an entity; of several that have one name the last.
    private static func inNameOrder(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        var names: [String] = []
        var properties: [NSPropertyDescription] = []
        for property in entity.properties {
            let name = property.name
            // They are few, and mostly in order.
            var place = names.count
            while place > 0, precedes(name, names[place - 1]) { place -= 1 }
            // A dictionary takes longer, and finds names that are spelled in two ways, too.
            guard name.utf8.allSatisfy({ $0 < 128 }), place == 0 || names[place - 1] != name
            else { return entity.propertiesByName.values.sorted(by: precedes) }
            names.insert(name, at: place)
            properties.insert(property, at: place)
        }
        return properties
    }

    private static func precedes(_ left: NSPropertyDescription, _ right: NSPropertyDescription)
        -> Bool
    {
        precedes(left.name, right.name)
    }

    /// Code-point order, which is also the order of UTF-8 bytes.
    static func precedes(_ left: String, _ right: String) -> Bool {
        var (left, right) = (left, right)
        return left.withUTF8 { first in
            right.withUTF8 { second in
                guard let a = first.baseAddress, let b = second.baseAddress else {
                    return first.count < second.count
                }
                let order = memcmp(a, b, min(first.count, second.count))
                return order == 0 ? first.count < second.count : order < 0
            }
        }
    }

    /// Four bytes, the lowest first.
    private static func append(_ number: Int, to message: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian) { message += $0 }
    }
}
