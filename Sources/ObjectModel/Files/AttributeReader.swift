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
        attribute.isTransient = element.flag("transient")
        attribute.attributeType = type
        attribute.attributeValueClassName = element.text("customClassName")
        attribute.valueTransformerName = element.text("valueTransformerName")
        attribute.allowsExternalBinaryDataStorage = element.flag(
            "allowsExternalBinaryDataStorage")
        let isPreserved = element.flag("preserveAfterDeletion")
        attribute.preservesValueInHistoryOnDeletion = element.flag(
            "preservesValueInHistoryOnDeletion", default: isPreserved)
        attribute.allowsCloudEncryption = element.flag("allowsCloudEncryption")
        attribute.usesScalarValueType = element.text("usesScalarValueType").map { _ in
            element.flag("usesScalarValueType")
        }
        attribute.validation = validation(element, type: type)
        attribute.defaultValue = DefaultValueReader(element: element, type: type).value()
        return attribute
    }

    private static func type(_ element: MarkupElement) throws -> NSAttributeType {
        guard let name = element.text("attributeType") else { return .undefinedAttributeType }
        if let type = NSAttributeType(fileName: name) { return type }
        guard !element.flag("transient") else {
            element.note("attributeType", name, "is not known; read as a transient of no type")
            return .undefinedAttributeType
        }
        // No column could be made or read for a type of a later version, so this one is refused.
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
        if element.flag("derived") {
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

    /// The bounds of the values. A bound that is no number is passed over with a note: zero in its
    /// place would refuse what the app saves.
    private func validation(
        _ element: MarkupElement, type: NSAttributeType
    ) -> AttributeValidation {
        guard type != .dateAttributeType else {
            return AttributeValidation(
                minimum: bound(element, "minDateTimeInterval"),
                maximum: bound(element, "maxDateTimeInterval"))
        }
        return AttributeValidation(
            minimum: bound(element, "minValueString"), maximum: bound(element, "maxValueString"),
            regularExpression: element.text("regularExpressionString"))
    }

    private func bound(_ element: MarkupElement, _ key: String) -> String? {
        guard let text = element.text(key) else { return nil }
        let leading = LeadingValue(text)
        guard let number = leading.number, Double(number)?.isFinite == true else {
            element.note(key, text, "is no number; passed over")
            return nil
        }
        if leading.isNumber { return Double(text) == nil ? number : text }
        element.note(key, text, "is no number; read as \(number)")
        return number
    }
}
