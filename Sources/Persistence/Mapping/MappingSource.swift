internal import Foundation
internal import ObjectModel
internal import Stores

internal import enum Predicates.FunctionName
internal import class Predicates.NSExpression

/// The source of a mapping model: a store of the objects that Xcode edits, in any spelling of its
/// names.
///
/// It names two models and carries a copy of each in the form of Xcode 3. From these follow the
/// hashes, and the expressions that nobody wrote.
struct MappingSource {
    private let file: URL
    private let objects: [Int64: StoredObject]
    private let source: NSManagedObjectModel
    private let destination: NSManagedObjectModel
    /// The entity mappings, in the order in which they are followed.
    private let steps: [StoredObject]

    init(_ graph: StoredGraph, file: URL) throws {
        self.file = file
        objects = Dictionary(graph.objects.map { ($0.key, $0) }) { first, _ in first }
        let kinds = Dictionary(grouping: graph.objects) { $0.entity.uppercased() }
        guard let root = kinds["XDDEVMAPPINGMODEL"]?.first else {
            throw ModelFileError(
                .notAModel,
                "\(file.path) is a store, but none of a mapping model; expected a mapping model",
                fields: ["file": file.path])
        }
        source = try MappingSourceModel(root, "source", file: file).model()
        destination = try MappingSourceModel(root, "destination", file: file).model()
        steps = (kinds["XDDEVENTITYMAPPING"] ?? []).sorted {
            ($0.number("mappingnumber"), $0.key) < ($1.number("mappingnumber"), $1.key)
        }
    }

    func entityMappings() throws -> [NSEntityMapping] { try steps.map(entityMapping) }

    // MARK: Entities

    /// The name that Xcode gives where nobody did.
    private func name(of step: StoredObject) -> String {
        if let name = step.text("name") { return name }
        let names = [step.text("sourcename"), step.text("destinationname")].compactMap { $0 }
        return names.joined(separator: "To")
    }

    private func entityMapping(_ step: StoredObject) throws -> NSEntityMapping {
        let made = NSEntityMapping()
        made.name = name(of: step)
        made.sourceEntityName = step.text("sourcename")
        made.destinationEntityName = step.text("destinationname")
        let former = made.sourceEntityName.flatMap { source.entitiesByName[$0] }
        let present = made.destinationEntityName.flatMap { destination.entitiesByName[$0] }
        made.sourceEntityVersionHash = former?.versionHash
        made.destinationEntityVersionHash = present?.versionHash
        made.entityMigrationPolicyClassName = step.text("migrationpolicyclassname")
        made.userInfo = userInfo(of: step)
        made.sourceExpression = try sourceExpression(of: step, made.sourceEntityName)
        made.attributeMappings = try properties(of: step, "attributemappings") { property, name in
            guard former?.attributesByName[name] != nil else { return nil }
            return NSExpression(node: MigrationFunction.ofSource([name]))
        }
        made.relationshipMappings = try properties(of: step, "relationshipmappings") {
            try relationshipExpression(of: $0, named: $1, in: former)
        }
        made.mappingType = type(of: made, former, present)
        return made
    }

    /// What Xcode's compiler makes of it: nobody chooses.
    private func type(
        of mapping: NSEntityMapping, _ former: NSEntityDescription?,
        _ present: NSEntityDescription?
    ) -> NSEntityMappingType {
        if mapping.entityMigrationPolicyClassName != nil { return .customEntityMappingType }
        guard mapping.sourceEntityName != nil else { return .addEntityMappingType }
        guard mapping.destinationEntityName != nil else { return .removeEntityMappingType }
        let names = [former, present].map { $0.map { Set($0.attributesByName.keys) } }
        return names[0] == names[1] ? .copyEntityMappingType : .transformEntityMappingType
    }

    private func sourceExpression(
        of step: StoredObject, _ entity: String?
    ) throws -> NSExpression? {
        if !step.flag("autogenerateexpression"), let data = step.data("sourceexpressiondata") {
            return try expression(data)
        }
        guard let entity else { return nil }
        let filter = step.text("sourcefilterpredicatestring") ?? "TRUEPREDICATE"
        let request = MigrationFunction.fetchRequest.node([.constant(entity), .constant(filter)])
        return NSExpression(
            node: .function(
                FunctionName.fetch,
                [
                    request, .path(from: .variable(NSMigrationManagerKey), ["sourceContext"]),
                    .constant(false),
                ]))
    }

    // MARK: Properties

    private func properties(
        of step: StoredObject, _ key: String,
        _ unwritten: (StoredObject, String) throws -> NSExpression?
    ) throws -> [NSPropertyMapping] {
        try step.targets(key).compactMap { objects[$0] }
            .compactMap { property in property.text("name").map { (property, $0) } }
            .sorted { $0.1 < $1.1 }
            .map { property, name in
                let made = NSPropertyMapping()
                made.name = name
                made.userInfo = userInfo(of: property)
                made.valueExpression =
                    try property.data("valueexpressiondata").map(expression)
                    ?? unwritten(property, name)
                return made
            }
    }

    /// What became of the objects that the relationship of the same name, or the written path,
    /// leads to: by the written mapping, or the only one of their entity, or whichever took them.
    private func relationshipExpression(
        of property: StoredObject, named name: String, in entity: NSEntityDescription?
    ) throws -> NSExpression? {
        var path = (property.text("sourcekeypath") ?? name).split(separator: ".").map(String.init)
        if path.first == "$source" { path.removeFirst() }
        let written = property.text("sourcemappingname")
        let isWritten = written != nil || property.text("sourcekeypath") != nil
        let relationship = path.count == 1 ? entity?.relationshipsByName[path[0]] : nil
        guard entity != nil, isWritten || relationship != nil, let last = path.last else {
            return nil
        }
        let place = MigrationFunction.ofSource(path)
        if let mapping = written ?? relationship.flatMap(onlyMapping) {
            return NSExpression(
                node: MigrationFunction.ofMapping.node([.constant(mapping), place]))
        }
        return NSExpression(node: MigrationFunction.ofRelationship.node([.constant(last), place]))
    }

    /// The name of the one mapping that takes the members of a relationship.
    private func onlyMapping(of relationship: NSRelationshipDescription) -> String? {
        guard let end = relationship.destinationEntity else { return nil }
        let takers = steps.filter { step in
            step.text("sourcename").flatMap { source.entitiesByName[$0] }?.isKindOf(entity: end)
                ?? false
        }
        return takers.count == 1 ? name(of: takers[0]) : nil
    }

    private func expression(_ data: Data) throws -> NSExpression {
        try NSExpression.parse(ArchivedObjects.expressionText(in: data, file: file.path))
    }

    private func userInfo(of object: StoredObject) -> [AnyHashable: Any]? {
        object.data("userinfodata").flatMap {
            ArchivedObjects.userInfo(in: $0, file: file.path)
        }
    }
}

/// One of the two models that a mapping model's source names.
private struct MappingSourceModel {
    private let root: StoredObject
    private let side: String
    private let file: URL

    init(_ root: StoredObject, _ side: String, file: URL) {
        self.root = root
        self.side = side
        self.file = file
    }

    /// The copy that the source carries, else the file it names, as found from the folders above.
    func model() throws -> NSManagedObjectModel {
        let copy = root.data("\(side)modeldata").flatMap {
            try? NSManagedObjectModel.load(fromArchive: $0, name: file.path)
        }
        if let model = copy ?? namedFile() { return model }
        throw ModelFileError(
            .cannotRead,
            "\(file.path) holds no copy of its \(side) model that can be read, and "
                + "\(root.text("\(side)modelpath") ?? "its file") is not found from there; put the "
                + "model where the mapping model names it", fields: ["file": file.path])
    }

    private func namedFile() -> NSManagedObjectModel? {
        guard let path = root.text("\(side)modelpath") else { return nil }
        var folder = file.deletingLastPathComponent()
        while folder.path.count > 1 {
            let place = folder.appendingPathComponent(path)
            if FileManager.default.fileExists(atPath: place.path) {
                return NSManagedObjectModel(contentsOf: place)
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}

extension StoredObject {
    private func value(_ name: String) -> AttributeValue? {
        attributes.first { $0.name.lowercased() == name }?.value
    }

    /// A text that is not empty.
    fileprivate func text(_ name: String) -> String? {
        guard case .text(let text) = value(name), !text.isEmpty else { return nil }
        return text
    }

    fileprivate func number(_ name: String) -> Int64 {
        if case .integer(let number) = value(name) { number } else { 0 }
    }

    fileprivate func flag(_ name: String) -> Bool { number(name) != 0 }

    fileprivate func data(_ name: String) -> Data? {
        guard case .data(let data) = value(name), !data.isEmpty else { return nil }
        return data
    }

    fileprivate func targets(_ name: String) -> [Int64] {
        relationships.first { $0.name.lowercased() == name }?.targets ?? []
    }
}
