internal import Foundation

/// Gathers the composites a model's attributes are made of; a model file defines each one once.
struct CompositeWriter {
    private var definitions: [String: MarkupNode] = [:]

    /// The definitions, in order of their names.
    var nodes: [MarkupNode] { definitions.sorted { $0.key < $1.key }.map(\.value) }

    /// The name that attributes of this shape refer to.
    static func name(of composite: NSCompositeAttributeDescription) -> String {
        composite.compositeName ?? "\(composite.entity.name ?? "").\(composite.name)"
    }

    /// Adds the attribute's composite and those inside it.
    mutating func add(_ composite: NSCompositeAttributeDescription) throws {
        let name = Self.name(of: composite)
        var node = MarkupNode("composite")
        node.set("name", name)
        node.children = try composite.elements.map(PropertyWriter.node)
        if let known = definitions.updateValue(node, forKey: name), known != node {
            throw ModelFileError(
                .duplicateName,
                "Two composite attributes share the name “\(name)” but not their elements; give one"
                    + " another compositeName.", fields: ["value": name])
        }
        for case let inner as NSCompositeAttributeDescription in composite.elements {
            try add(inner)
        }
    }
}
