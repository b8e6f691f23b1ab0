internal import Foundation

/// Reads a whole model out of the XML of an `.xcdatamodel`'s `contents`.
struct ModelReader {
    private let root: MarkupElement

    /// Reads the model in `data`; `file` is its name in errors.
    static func model(in data: Data, file: String) throws -> NSManagedObjectModel {
        let root = try MarkupParser.parse(data, file: file)
        guard root.name == "model" else {
            throw root.problem(
                .notAModel, "the XML is a <\(root.name)>; expected a <model>",
                fields: ["expected": "model"])
        }
        return try model(of: root)
    }

    /// The model that the element `root` describes.
    static func model(of root: MarkupElement) throws -> NSManagedObjectModel {
        try ModelReader(root: root).model()
    }

    private func model() throws -> NSManagedObjectModel {
        let reader = EntityReader(attributes: AttributeReader(composites: try composites()))
        let found = try root.children(named: "entity").map(reader.entity)
        try EntityLinker(found).link()
        let model = NSManagedObjectModel()
        model.entities = found.map(\.entity)
        model.versionIdentifiers = [root.attributes["userDefinedModelVersionIdentifier"] ?? ""]
        model.documentFacts = root.attributes
        model.documentFacts["userDefinedModelVersionIdentifier"] = nil
        readConfigurations(into: model)
        for element in root.children(named: "fetchRequest") {
            guard let name = element.text("name") else {
                element.note("a stored request has no name; passed over")
                continue
            }
            model.fetchRequestTemplates[name] = PropertyReader.fetchRequest(element, named: name)
        }
        model.readingNotes = root.allNotes()
        return model
    }

    private func composites() throws -> [String: MarkupElement] {
        var composites: [String: MarkupElement] = [:]
        for element in root.children(named: "composite") {
            let name = try element.requiredText("name")
            guard composites.updateValue(element, forKey: name) == nil else {
                throw element.problem(
                    .duplicateName, "the model has two composites named “\(name)”",
                    fields: ["value": name])
            }
        }
        return composites
    }

    private func readConfigurations(into model: NSManagedObjectModel) {
        for element in root.children(named: "configuration") {
            guard let name = element.text("name") else {
                element.note("a configuration has no name; passed over")
                continue
            }
            model.configurationMembers[name] = element.children(named: "memberEntity")
                .compactMap { $0.text("name") }
        }
    }
}
