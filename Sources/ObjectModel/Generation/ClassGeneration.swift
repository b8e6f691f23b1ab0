internal import Foundation

/// The Swift classes of a model, as Xcode generates them from the model's own settings.
///
/// An entity whose code generation is `class` gets its class and an extension with its properties;
/// `category` gets the extension only, for a class written by hand; others get nothing.
public struct ClassGeneration {
    /// One generated file.
    public struct Source: Hashable, Sendable {
        /// The file's name, as Xcode names it.
        public let fileName: String
        /// What stands in the file.
        public let text: String
    }

    private let model: NSManagedObjectModel

    /// Looks at nothing yet; `sources()` does.
    public init(model: NSManagedObjectModel) { self.model = model }

    /// All generated files, in the order of the entities. Throws `ClassGenerationError` where the
    /// model's names make no Swift.
    public func sources() throws -> [Source] {
        var owners: [ClassName: String] = [:]
        var sources: [Source] = []
        for entity in model.entities {
            guard let kind = try Kind(entity) else { continue }
            let name = try ClassName(of: entity)
            guard !name.isManagedObject else {
                throw ClassGenerationError(.missingClass, entity: entity.name)
            }
            if let other = owners.updateValue(entity.name ?? "", forKey: name) {
                throw ClassGenerationError(
                    .sharedClass, entity: entity.name, fields: ["class": name.text, "other": other])
            }
            sources += try files(of: entity, named: name, kind)
        }
        return sources
    }

    private func files(
        of entity: NSEntityDescription, named name: ClassName, _ kind: Kind
    ) throws -> [Source] {
        let properties = try PropertiesText(entity: entity, name: name)
        var files: [Source] = []
        if kind == .definition {
            let base = try entity.superentity.map(ClassName.init(of:)) ?? .managedObject
            let text = "\(Self.declaration(name, base))\n"
            files.append(file("\(name.fileName)+CoreDataClass.swift", text, foundation: "import"))
        }
        let text = "\(properties.text)\n"
        let access = properties.usesFoundation ? "public import" : "import"
        files.append(file("\(name.fileName)+CoreDataProperties.swift", text, foundation: access))
        return files
    }

    private static func declaration(_ name: ClassName, _ base: ClassName) -> String {
        let line = "public class \(name.last): \(base.text) {\n\n}"
        guard let outer = name.outer else { return line }
        return "extension \(outer) {\n    \(line.replacingOccurrences(of: "}", with: "    }"))\n}"
    }

    /// The compiler warns of a public import that no public declaration needs.
    private func file(_ name: String, _ body: String, foundation: String) -> Source {
        let head =
            "//\n//  \(name)\n//\n"
            + "//  This file was automatically generated and should not be edited.\n//\n\n"
            + "\(foundation) Foundation\npublic import CoreData\n\n"
        return Source(fileName: name, text: head + body)
    }

    /// How much of an entity's class is generated.
    private enum Kind {
        case definition, properties

        init?(_ entity: NSEntityDescription) throws {
            switch entity.marks.codeGeneration {
            case nil, "none", "": return nil
            case "class": self = .definition
            case "category": self = .properties
            case .some(let other):
                throw ClassGenerationError(
                    .unknownKind, entity: entity.name, fields: ["value": other])
            }
        }
    }
}
