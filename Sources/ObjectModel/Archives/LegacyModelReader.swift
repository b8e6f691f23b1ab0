internal import Foundation

/// Reads the `elements` file of an `.xcdatamodel` in the format of Xcode 3: a keyed archive of the
/// editor's own objects.
///
/// Each object is put into the words of today's XML, and the XML's readers make the model of them.
/// So both forms obey the same rules. What cannot be put so is named in the model's `unreadParts`.
struct LegacyModelReader {
    private let root: ArchivedObject
    private var file: String { root.archive.file }

    /// The class of the editor's model, by which such an archive is known.
    static let rootClassName = "XDPMModel"

    init(root: ArchivedObject) { self.root = root }

    func model() throws -> NSManagedObjectModel {
        guard let package = root.object("_xd_rootPackage") else {
            throw root.archive.broken("its model has no package of entities")
        }
        let model = try ModelReader.model(of: element(of: package))
        model.unreadParts = try unreadParts(of: package)
        return model
    }

    private func element(of package: ArchivedObject) throws -> MarkupElement {
        var facts: [String: String] = [:]
        facts["userDefinedModelVersionIdentifier"] = root.string("_modelVersionIdentifier")
        let model = MarkupElement(name: "model", attributes: facts, file: file, line: 0)
        for (name, entity) in try LegacyObject.named(package, in: "Classes") {
            guard entity.object.className == "XDPMEntity" else { continue }
            model.add(try self.entity(entity, named: name))
        }
        for entry in try LegacyObject.entries(of: root.object("_configurationsByName")) {
            guard let name = entry.key.string else { continue }
            let configuration = child("configuration", ["name": name], of: model)
            for member in try LegacyObject.names(in: entry.value) {
                _ = child("memberEntity", ["name": member], of: configuration)
            }
        }
        return model
    }

    private func child(
        _ name: String, _ attributes: [String: String], of parent: MarkupElement
    ) -> MarkupElement {
        let element = MarkupElement(name: name, attributes: attributes, file: file, line: 0)
        parent.add(element)
        return element
    }

    // MARK: Entities

    private func entity(_ entity: LegacyObject, named name: String) throws -> MarkupElement {
        var facts = ["name": name]
        facts["representedClassName"] = entity.text("XD_PSK_entityClassName")
        facts["isAbstract"] = entity.flag("XD_PSK_isAbstract")
        facts["elementID"] = entity.text("XD_PSK_elementID")
        facts["versionHashModifier"] = entity.text("XD_PSK_versionHashModifier")
        let parents = try LegacyObject.members(
            of: entity.object.object("XDBucketForGeneralizationsstorage"))
        guard parents.count <= 1 else {
            throw root.archive.broken("the entity “\(name)” has several parents")
        }
        facts["parentEntity"] = parents.first??.object?.object("_general")?.string("_name")
        let element = MarkupElement(name: "entity", attributes: facts, file: file, line: 0)
        for (name, property) in try LegacyObject.named(entity.object, in: "OwnedAttributes") {
            element.add(try self.property(property, named: name))
        }
        try addGroups(
            entity["XDPMCompoundIndexes"], ["compoundIndexes", "compoundIndex", "index"],
            to: element)
        try addGroups(
            entity["XDPMUniquenessConstraints"],
            ["uniquenessConstraints", "uniquenessConstraint", "constraint"], to: element)
        try addUserInfo(entity["XD_PSK_userInfo"], to: element)
        return element
    }

    /// Adds groups of property names; `names` are those of the list, of a group and of a member.
    private func addGroups(
        _ value: ArchivedValue?, _ names: [String], to element: MarkupElement
    ) throws {
        let groups = try LegacyObject.members(of: value?.object).map(LegacyObject.names)
            .filter { !$0.isEmpty }
        guard !groups.isEmpty else { return }
        let list = child(names[0], [:], of: element)
        for group in groups {
            let place = child(names[1], [:], of: list)
            for member in group { _ = child(names[2], ["value": member], of: place) }
        }
    }

    /// Adds the entries that are texts; the editor's own marks for syncing are no texts.
    private func addUserInfo(_ value: ArchivedValue?, to element: MarkupElement) throws {
        let pairs = try LegacyObject.entries(of: value?.object).compactMap { entry in
            entry.key.string.flatMap { key in entry.value.string.map { (key, $0) } }
        }
        guard !pairs.isEmpty else { return }
        let list = child("userInfo", [:], of: element)
        for (key, value) in pairs.sorted(by: { VersionHashing.precedes($0.0, $1.0) }) {
            _ = child("entry", ["key": key, "value": value], of: list)
        }
    }

    // MARK: Properties

    private func property(_ property: LegacyObject, named name: String) throws -> MarkupElement {
        let (kind, facts): (String, [String: String])
        switch property.object.className {
        case "XDPMAttribute": (kind, facts) = ("attribute", try attributeFacts(property, name))
        case "XDPMRelationship": (kind, facts) = ("relationship", relationshipFacts(property))
        case "XDPMFetchedProperty": (kind, facts) = ("fetchedProperty", [:])
        case let other:
            throw ModelFileError(
                .unsupportedFormat, file: file,
                "the property “\(name)” is a \(other.prefix(80)), which is neither attribute nor"
                    + " relationship nor fetched property; open the model in Xcode and save it as"
                    + " XML")
        }
        var all = facts
        all["name"] = name
        for (key, legacy) in [
            ("optional", "isOptional"), ("transient", "isTransient"), ("indexed", "isIndexed"),
            ("spotlightIndexingEnabled", "isSpotlightIndexed"),
            ("storedInTruthFile", "isStoredInTruthFile"),
        ] {
            all[key] = property.flag("XD_PPSK_" + legacy)
        }
        for key in ["versionHashModifier", "elementID"] {
            all[key] = property.text("XD_PPSK_" + key)
        }
        let element = MarkupElement(name: kind, attributes: all, file: file, line: 0)
        try addUserInfo(property["XD_PPSK_userInfo"], to: element)
        return element
    }

    private func attributeFacts(
        _ attribute: LegacyObject, _ name: String
    ) throws -> [String: String] {
        let code = attribute["XD_PAttK_attributeType"]?.integer ?? 0
        guard let type = UInt(exactly: code).flatMap(NSAttributeType.init(rawValue:)) else {
            throw ModelFileError(
                .unknownAttributeType, file: file,
                "the attribute “\(name)” has the unknown type \(code); open the model in Xcode and"
                    + " save it as XML")
        }
        var facts = ["attributeType": type.fileName ?? ""]
        for key in ["valueTransformerName", "regularExpressionString"] {
            facts[key] = attribute.text("XD_PAttK_" + key)
        }
        facts["allowsExternalBinaryDataStorage"] = attribute.flag(
            "XD_PAttK_allowsExternalBinaryDataStorage")
        guard type != .dateAttributeType else {
            for (key, legacy) in [
                ("defaultDateTimeInterval", "defaultValueAsString"),
                ("minDateTimeInterval", "minValueString"),
                ("maxDateTimeInterval", "maxValueString"),
            ] {
                facts[key] = attribute.text("XD_PAttK_" + legacy).flatMap(LegacyDate.seconds)
            }
            return facts
        }
        facts["defaultValueString"] = attribute.text("XD_PAttK_defaultValueAsString")
        for key in ["minValueString", "maxValueString"] {
            facts[key] = attribute.text("XD_PAttK_" + key)
        }
        return facts
    }

    private func relationshipFacts(_ relationship: LegacyObject) -> [String: String] {
        var facts: [String: String] = [:]
        facts["toMany"] = relationship.flag("XD_PRK_isToMany")
        facts["ordered"] = relationship.flag("XD_PRK_ordered")
        for key in ["minCount", "maxCount"] { facts[key] = relationship.text("XD_PRK_" + key) }
        if let code = relationship["XD_PRK_deleteRule"]?.integer {
            let rule = UInt(exactly: code).flatMap(NSDeleteRule.init(rawValue:))
            facts["deletionRule"] = rule?.fileName ?? String(code)
        }
        let destination = relationship["XD_PRK_destination"]?.object
        facts["destinationEntity"] = destination?.string("_name")
        if let inverse = relationship["XD_PRK_inverseRelationship"]?.object {
            facts["inverseName"] = inverse.string("_name")
            facts["inverseEntity"] = inverse.object("_owner")?.string("_name")
        }
        return facts
    }
}
