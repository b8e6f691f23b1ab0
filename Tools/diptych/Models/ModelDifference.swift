internal import Foundation
internal import MirrorEngine
internal import ObjectModel

/// What changed from one version of a model to another, and whether a lightweight migration can
/// follow. Sources: Apple, "Using lightweight migration"; version hashes.
struct ModelDifference {
    private let old: NSManagedObjectModel
    private let new: NSManagedObjectModel
    private(set) var changes: [ModelChange] = []
    /// Whether stores of the old model do not fit the new one.
    let needsMigration: Bool

    var isLightweight: Bool { !changes.contains { $0.effect == .impossible } }

    init(from old: NSManagedObjectModel, to new: NSManagedObjectModel) {
        self.old = old
        self.new = new
        needsMigration = old.entityVersionHashesByName != new.entityVersionHashesByName
        let pairs = Self.matches(old.entities, new.entities, \.matchName, \.givenRenamingIdentifier)
        for (former, entity) in pairs { compare(former, entity) }
        let kept = Set(pairs.map { ObjectIdentifier($0.0) })
        for entity in old.entities where !kept.contains(ObjectIdentifier(entity)) {
            note(
                "removedEntity", entity, nil, "removed", .losesData,
                "Its objects are deleted. If it was renamed, set the renaming ID of the new one.")
        }
        let known = Set(pairs.map { ObjectIdentifier($0.1) })
        for entity in new.entities where !known.contains(ObjectIdentifier(entity)) {
            note("addedEntity", entity, nil, "added", .lightweight)
        }
        compareHierarchies(pairs)
    }

    private mutating func note(
        _ code: String, _ entity: NSEntityDescription, _ property: String?, _ detail: String,
        _ effect: ModelChange.Effect, _ advice: String? = nil
    ) {
        changes.append(
            ModelChange(
                code: code, entity: entity.matchName, property: property, detail: detail,
                effect: effect, advice: advice))
    }

    /// Pairs by the renaming identifier of the newer one, or by name, as the inference of a
    /// migration does: an identifier that nothing answers to counts for nothing, unless another
    /// asks for the name. What has kept both was not renamed between the two.
    private static func matches<Item>(
        _ old: [Item], _ new: [Item], _ name: (Item) -> String, _ identifier: (Item) -> String?
    ) -> [(Item, Item)] {
        new.compactMap { item in
            let wanted = identifier(item) ?? name(item)
            let isClaimed = new.contains {
                name($0) != name(item) && identifier($0) == name(item)
            }
            let former =
                old.first { name($0) == name(item) && identifier($0) == identifier(item) }
                ?? old.first { (identifier($0) ?? name($0)) == wanted }
                ?? old.first { name($0) == wanted }
                ?? (isClaimed ? nil : old.first { name($0) == name(item) })
            return former.map { ($0, item) }
        }
    }

    // MARK: Entities

    private mutating func compare(_ old: NSEntityDescription, _ new: NSEntityDescription) {
        if old.name != new.name {
            note(
                "renamedEntity", new, nil, "renamed from \(old.matchName)", .lightweight)
        }
        if old.isAbstract != new.isAbstract {
            note(
                "abstract", new, nil,
                new.isAbstract ? "is abstract now" : "is not abstract any more",
                .lightweight, new.isAbstract ? "No object may be of it itself." : nil)
        }
        let (former, present): (String, String) = (
            old.managedObjectClassName, new.managedObjectClassName
        )
        if former != present {
            let classes = "\(former) to \(present)"
            note("class", new, nil, "its class changed from \(classes)", .none)
        }
        if old.versionHashModifier != new.versionHashModifier {
            note("hashModifier", new, nil, "its hash modifier changed", .lightweight)
        }
        let unique = (Set(old.uniquenessConstraintNames), Set(new.uniquenessConstraintNames))
        for constraint in unique.1.subtracting(unique.0).sorted(by: { $0[0] < $1[0] }) {
            note(
                "addedConstraint", new, nil, "unique now: " + constraint.joined(separator: ", "),
                .lightweight, "It fails where objects have the same values.")
        }
        for constraint in unique.0.subtracting(unique.1).sorted(by: { $0[0] < $1[0] }) {
            note(
                "removedConstraint", new, nil,
                "no longer unique: " + constraint.joined(separator: ", "), .lightweight)
        }
        if Set(old.indexes.map(\.summary)) != Set(new.indexes.map(\.summary)) {
            note("indexes", new, nil, "its indexes changed", .none)
        }
        compareProperties(old, new)
    }

    /// Entities that had no ancestor in common cannot get one.
    private mutating func compareHierarchies(
        _ pairs: [(NSEntityDescription, NSEntityDescription)]
    ) {
        var roots: [ObjectIdentifier: NSEntityDescription] = [:]
        for (former, entity) in pairs {
            let root = ObjectIdentifier(entity.rootEntity)
            let formerRoot = former.rootEntity
            guard let other = roots.updateValue(formerRoot, forKey: root), other !== formerRoot
            else { continue }
            note(
                "mergedHierarchies", entity, nil,
                "\(other.matchName) and \(formerRoot.matchName) had no ancestor in common, and "
                    + "have now", .impossible,
                "Write a mapping model, or keep the two apart.")
        }
        for (former, entity) in pairs
        where former.superentity?.name != entity.superentity?.name {
            let wasRenamed = pairs.contains {
                $0.0 === former.superentity && $0.1 === entity.superentity
            }
            guard !wasRenamed else { continue }
            let parents = [former, entity].map { $0.superentity?.matchName ?? "none" }
            note(
                "parent", entity, nil, "its parent changed from \(parents[0]) to \(parents[1])",
                .lightweight)
        }
    }

    // MARK: Properties

    private mutating func compareProperties(
        _ old: NSEntityDescription, _ new: NSEntityDescription
    ) {
        let (former, current) = (Self.stored(old), Self.stored(new))
        let pairs = Self.matches(former, current, \.name, \.givenRenamingIdentifier)
        let kept = Set(pairs.map { ObjectIdentifier($0.0) })
        let known = Set(pairs.map { ObjectIdentifier($0.1) })
        for property in former where !kept.contains(ObjectIdentifier(property)) {
            guard isDeclared(property, by: old) else { continue }
            note(
                "removed\(property.kindName)", new, property.name, "removed", .losesData,
                "Its values are lost. If it was renamed, set the renaming ID of the new one.")
        }
        for property in current where !known.contains(ObjectIdentifier(property)) {
            if isDeclared(property, by: new) { noteAddition(of: property, to: new) }
        }
        for (former, property) in pairs where isDeclared(property, by: new) {
            compare(former, property, of: new)
            compareRecordNames(former, property, of: new)
        }
    }

    /// Whether records called it by a name of the past that they have no more.
    private mutating func compareRecordNames(
        _ old: NSPropertyDescription, _ new: NSPropertyDescription,
        of entity: NSEntityDescription
    ) {
        let names = [old, new].map {
            ($0.userInfo?[RecordKeys.userInfoKey] as? String) ?? $0.renamingIdentifier ?? $0.name
        }
        guard names[0] != old.name, names[0] != names[1] else { return }
        note(
            "recordName", entity, new.name,
            "is called \(names[1]) in records, and was called \(names[0])", .none,
            "Under mirroring, devices of both versions do not see each other's values. Keep the "
                + "renaming ID \(names[0]), or set \(RecordKeys.userInfoKey) to it in the "
                + "userInfo.")
    }

    /// What an entity inherits is told of its ancestor.
    private func isDeclared(
        _ property: NSPropertyDescription, by entity: NSEntityDescription
    ) -> Bool { entity.declaredProperties.contains { $0 === property } }

    /// Only what stores hold; inherited properties too, as they may move between ancestors.
    private static func stored(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.propertiesByName.values.filter {
            !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription)
        }.sorted { $0.name < $1.name }
    }

    private mutating func noteAddition(
        of property: NSPropertyDescription, to entity: NSEntityDescription
    ) {
        let code = "added\(property.kindName)"
        guard !property.isOptional, !(property is NSDerivedAttributeDescription) else {
            return note(code, entity, property.name, "added", .lightweight)
        }
        guard let attribute = property as? NSAttributeDescription else {
            return note(
                code, entity, property.name, "added, and required", .lightweight,
                "Objects of before have none, and cannot be saved until they get one.")
        }
        let hasDefault = attribute.defaultValue != nil
        note(
            code, entity, property.name,
            hasDefault ? "added, required, with a default" : "added, required, without a default",
            hasDefault ? .lightweight : .impossible,
            hasDefault ? nil : "Give it a default, or make it optional.")
    }

    private mutating func compare(
        _ old: NSPropertyDescription, _ new: NSPropertyDescription, of entity: NSEntityDescription
    ) {
        if old.name != new.name {
            note(
                "renamed\(new.kindName)", entity, new.name, "renamed from \(old.name)", .lightweight
            )
        }
        if old.versionHashModifier != new.versionHashModifier {
            note("hashModifier", entity, new.name, "its hash modifier changed", .lightweight)
        }
        switch (old, new) {
        case (let old as NSAttributeDescription, let new as NSAttributeDescription):
            compareOptionality(old, new, of: entity, default: new.defaultValue)
            compare(old, new, of: entity)
        case (let old as NSRelationshipDescription, let new as NSRelationshipDescription):
            if old.isOptional && !new.isOptional {
                note(
                    "required", entity, new.name, "is required now", .lightweight,
                    "Objects without one cannot be saved until they get one.")
            } else if old.isOptional != new.isOptional {
                note("optional", entity, new.name, "is optional now", .lightweight)
            }
            compare(old, new, of: entity)
        default:
            note(
                "kind", entity, new.name,
                "was \(old.kindName.lowercased()), is \(new.kindName.lowercased()) now",
                .impossible, "Give the new one another name, or write a mapping model.")
        }
    }

    private mutating func compareOptionality(
        _ old: NSPropertyDescription, _ new: NSPropertyDescription,
        of entity: NSEntityDescription, default value: Any?
    ) {
        guard old.isOptional != new.isOptional else { return }
        guard !new.isOptional else {
            return note("optional", entity, new.name, "is optional now", .lightweight)
        }
        let hasDefault = value != nil
        note(
            "required", entity, new.name,
            "is required now, \(hasDefault ? "with" : "without") a default",
            hasDefault ? .lightweight : .impossible,
            hasDefault ? "Objects without a value get the default." : "Give it a default.")
    }

    private mutating func compare(
        _ old: NSAttributeDescription, _ new: NSAttributeDescription,
        of entity: NSEntityDescription
    ) {
        if old.attributeType != new.attributeType {
            let types = [old, new].map { $0.attributeType.fileName ?? "unknown" }
            let isTaken = new.takesValues(of: old)
            note(
                "type", entity, new.name, "its type changed from \(types[0]) to \(types[1])",
                isTaken ? .lightweight : .impossible,
                isTaken
                    ? nil
                    : "Add the new one under another name and carry the values over in a program, "
                        + "or write a mapping model.")
        }
        let derivations = [old, new].map { ($0 as? NSDerivedAttributeDescription)?.versionHash }
        if derivations[0] != derivations[1] {
            note("derivation", entity, new.name, "is derived in another way", .lightweight)
        }
        if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
            note("externalStorage", entity, new.name, "its place of storage changed", .lightweight)
        }
        let defaults = [old, new].map { $0.defaultValue.map { "\($0)" } ?? "none" }
        if defaults[0] != defaults[1] {
            note(
                "default", entity, new.name,
                "its default changed from \(defaults[0]) to \(defaults[1])", .none,
                "Objects of before keep their values.")
        }
        if Self.bounds(old) != Self.bounds(new) {
            note(
                "validation", entity, new.name, "its bounds or rules changed", .none,
                "Values of before are not checked until they are saved.")
        }
    }

    /// The rules of an attribute, with bounds as a compiled model spells them.
    private static func bounds(_ attribute: NSAttributeDescription) -> AttributeValidation {
        func number(_ text: String?) -> String? {
            text.map { text in Double(text).map { "\($0)" } ?? text }
        }
        var validation = attribute.validation
        validation.minimum = number(validation.minimum)
        validation.maximum = number(validation.maximum)
        return validation
    }

    private mutating func compare(
        _ old: NSRelationshipDescription, _ new: NSRelationshipDescription,
        of entity: NSEntityDescription
    ) {
        let ends = (old.destinationEntity, new.destinationEntity)
        let leadsToTheSame =
            ends.0?.name == ends.1?.name
            || (ends.1?.givenRenamingIdentifier).map {
                [ends.0?.name, ends.0?.givenRenamingIdentifier].contains($0)
            }
                ?? false
        if !leadsToTheSame {
            note(
                "destination", entity, new.name,
                "leads to \(ends.1?.name ?? "nothing") instead of \(ends.0?.name ?? "nothing")",
                .impossible, "Give the new one another name, or write a mapping model.")
        }
        if old.isToMany != new.isToMany {
            note(
                "count", entity, new.name, new.isToMany ? "is to-many now" : "is to-one now",
                new.isToMany ? .lightweight : .losesData,
                new.isToMany ? nil : "Of several members one stays.")
        }
        if old.isOrdered != new.isOrdered {
            note(
                "order", entity, new.name, new.isOrdered ? "is ordered now" : "has no order now",
                new.isOrdered ? .lightweight : .losesData,
                new.isOrdered ? nil : "The order is lost.")
        }
        if old.deleteRule != new.deleteRule {
            note("deleteRule", entity, new.name, "its delete rule changed", .none)
        }
        if old.inverseRelationship?.name != new.inverseRelationship?.name,
            new.inverseRelationship?.givenRenamingIdentifier != old.inverseRelationship?.name
        {
            note("inverse", entity, new.name, "its inverse changed", .lightweight)
        }
    }
}

extension NSEntityDescription {
    /// The name, empty where there is none.
    var matchName: String { name ?? "" }
}

extension NSPropertyDescription {
    /// As codes of changes spell it.
    var kindName: String { self is NSRelationshipDescription ? "Relationship" : "Attribute" }
}
