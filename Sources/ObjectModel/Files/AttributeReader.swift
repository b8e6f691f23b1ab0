internal import Foundation

/// Reads attributes, with their types, default values and bounds.
struct AttributeReader {
    /// The elements of each composite that the file defines, by its name.
    let composites: [String: MarkupElement]
    private let budget = CompositeBudget()

    init(composites: [String: MarkupElement]) { self.composites = composites }

    func attribute(_ element: MarkupElement, inside outer: [String] = []) throws
        -> NSAttributeDescription
    {
        let type = try Self.type(element)
        let attribute = try shape(element, type: type, inside: outer)
        try PropertyReader.readCommonFacts(of: element, into: attribute)
        attribute.isTransient = try element.flag("transient")
        attribute.attributeType = type
        attribute.attributeValueClassName = element.text("customClassName")
        attribute.valueTransformerName = element.text("valueTransformerName")
        attribute.allowsExternalBinaryDataStorage = try element.flag(
            "allowsExternalBinaryDataStorage")
        let isPreserved = try element.flag("preserveAfterDeletion")
        attribute.preservesValueInHistoryOnDeletion = try element.flag(
            "preservesValueInHistoryOnDeletion", default: isPreserved)
        attribute.allowsCloudEncryption = try element.flag("allowsCloudEncryption")
        attribute.usesScalarValueType = try element.text("usesScalarValueType").map { _ in
            try element.flag("usesScalarValueType")
        }
        attribute.validation = try validation(element, type: type)
        attribute.defaultValue = try DefaultValueReader(element: element, type: type).value()
        return attribute
    }

    private static func type(_ element: MarkupElement) throws -> NSAttributeType {
        guard let name = element.text("attributeType") else { return .undefinedAttributeType }
        if let type = NSAttributeType(fileName: name) { return type }
        let known = NSAttributeType.allCases.compactMap(\.fileName).joined(separator: ", ")
        throw element.problem(
            .unknownAttributeType,
            "\(element.label) has the unknown type “\(name.prefix(80))”; expected one of \(known)",
            fields: ["value": name, "expected": known, "property": element.text("name") ?? ""])
    }

    /// Makes the description of the right class.
    private func shape(
        _ element: MarkupElement, type: NSAttributeType, inside outer: [String]
    ) throws -> NSAttributeDescription {
        if try element.flag("derived") {
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpressionText = element.text("derivationExpression")
            return derived
        }
        guard type == .compositeAttributeType else { return NSAttributeDescription() }
        return try composite(element, inside: outer)
    }

    private func composite(
        _ element: MarkupElement, inside outer: [String]
    ) throws -> NSCompositeAttributeDescription {
        let name = try element.requiredText("composite")
        guard let definition = composites[name] else {
            throw element.problem(
                .unknownComposite,
                "\(element.label) is of the composite “\(name)”, which the file does not define;"
                    + " expected <composite name=\"\(name)\">", fields: ["value": name])
        }
        guard !outer.contains(name) else {
            throw definition.problem(
                .inheritanceCircle, "the composite “\(name)” contains itself",
                fields: ["value": name])
        }
        let elements = definition.children(named: "attribute")
        guard outer.count < ModelBounds.compositesMax, budget.take(elements.count) else {
            throw definition.problem(
                .tooLarge,
                "the composite “\(name)” nests deeper than \(ModelBounds.compositesMax),"
                    + " or composites hold each other many times over; no model does",
                fields: ["value": name])
        }
        let attribute = NSCompositeAttributeDescription()
        attribute.compositeName = name
        attribute.elements = try elements.map {
            try self.attribute($0, inside: outer + [name])
        }
        return attribute
    }

    private func validation(
        _ element: MarkupElement, type: NSAttributeType
    ) throws -> AttributeValidation {
        guard type != .dateAttributeType else {
            return AttributeValidation(
                minimum: try dateBound(element, "min"), maximum: try dateBound(element, "max"))
        }
        let bounds = AttributeValidation(
            minimum: element.text("minValueString"), maximum: element.text("maxValueString"),
            regularExpression: element.text("regularExpressionString"))
        for (key, bound) in [
            ("minValueString", bounds.minimum), ("maxValueString", bounds.maximum),
        ] {
            guard let bound, Double(bound) == nil else { continue }
            throw element.badValue(key, bound, expected: "a number")
        }
        return bounds
    }

    private func dateBound(_ element: MarkupElement, _ side: String) throws -> String? {
        try element.number("\(side)DateTimeInterval") == nil
            ? nil : element.text("\(side)DateTimeInterval")
    }
}
