internal import Foundation

/// Computes version hashes, each entity's once, and that of each property that is inherited.
///
/// The rule was found by comparing Apple's files; see the reference on formats. A value of this
/// type lives for one computation, since descriptions may change afterwards.
struct VersionHashing {
    private var entityHashes: [ObjectIdentifier: [UInt8]]
    private var propertyHashes: [ObjectIdentifier: [UInt8]] = [:]

    /// `known` holds hashes that are taken as given, for example of parents seen elsewhere.
    init(known: [ObjectIdentifier: [UInt8]] = [:]) { entityHashes = known }

    /// The 32-byte hash of an entity: its name, its ancestors and all its persistent properties.
    mutating func hash(of entity: NSEntityDescription) -> [UInt8] {
        if let hash = entityHashes[ObjectIdentifier(entity)] { return hash }
        var message: [UInt8] = []
        message.reserveCapacity(32 * (entity.declaredProperties.count + 4))
        message += (entity.name ?? "").utf8
        message.append(entity.isAbstract ? 1 : 0)
        if let parent = entity.superentity { message += hash(of: parent) }
        let properties = Self.inNameOrder(entity)
            .filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
        for property in properties { message += hash(of: property) }
        if let modifier = entity.versionHashModifier { message += modifier.utf8 }
        let constraints = entity.uniquenessConstraintNames.map { $0.joined(separator: ".") }
        for constraint in constraints.sorted(by: Self.precedes) {
            message += constraint.utf8
        }
        let hash = SHA2.sha256(message)
        if !entity.subentities.isEmpty { entityHashes[ObjectIdentifier(entity)] = hash }
        return hash
    }

    /// The 32-byte hash of a property. Transient and fetched ones have one too, but entities pass
    /// over it.
    mutating func hash(of property: NSPropertyDescription) -> [UInt8] {
        if let hash = propertyHashes[ObjectIdentifier(property)] { return hash }
        let hash = computed(property)
        if !property.entity.subentities.isEmpty {
            propertyHashes[ObjectIdentifier(property)] = hash
        }
        return hash
    }

    private mutating func computed(_ property: NSPropertyDescription) -> [UInt8] {
        switch property {
        case let derived as NSDerivedAttributeDescription:
            SHA2.sha256(Array(Self.hashedText(of: derived).utf8))
        case let composite as NSCompositeAttributeDescription: compositeHash(composite)
        case let attribute as NSAttributeDescription: attributeHash(attribute)
        case let relationship as NSRelationshipDescription: relationshipHash(relationship)
        default: baseHash(property)
        }
    }

    // MARK: Properties

    private func baseHash(_ property: NSPropertyDescription) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(64)
        message += property.name.utf8
        message.append(property.isOptional ? 1 : 0)
        message.append(property.marks.contains(.readOnly) ? 1 : 0)
        if let modifier = property.versionHashModifier { message += modifier.utf8 }
        return SHA2.sha256(message)
    }

    private func attributeHash(_ attribute: NSAttributeDescription) -> [UInt8] {
        var message = baseHash(attribute)
        Self.append(Int(attribute.attributeType.rawValue), to: &message)
        if attribute.allowsExternalBinaryDataStorage { message.append(1) }
        if attribute.preservesValueInHistoryOnDeletion { message.append(1) }
        return SHA2.sha256(message)
    }

    private func relationshipHash(_ relationship: NSRelationshipDescription) -> [UInt8] {
        var message = baseHash(relationship)
        message += (relationship.destinationEntityName ?? "").utf8
        let inverse = relationship.inverseRelationship
        if inverse !== relationship { message += (inverse?.name ?? "").utf8 }
        Self.append(relationship.givenCounts.max, to: &message)
        Self.append(relationship.givenCounts.min, to: &message)
        if relationship.isOrdered { message += [1, 0] }
        return SHA2.sha256(message)
    }

    private mutating func compositeHash(_ composite: NSCompositeAttributeDescription) -> [UInt8] {
        var message: [UInt8] = []
        for element in composite.elements.sorted(by: Self.precedes) { message += hash(of: element) }
        return SHA2.sha256(message)
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
        let properties = entity.properties.sorted(by: precedes)
        // Mostly; a dictionary takes longer, and finds names that are spelled in two ways, too.
        let areDistinct =
            properties.allSatisfy { $0.name.utf8.allSatisfy { $0 < 128 } }
            && zip(properties, properties.dropFirst()).allSatisfy { $0.name != $1.name }
        return areDistinct ? properties : entity.propertiesByName.values.sorted(by: precedes)
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
