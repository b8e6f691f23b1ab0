internal import Foundation

/// Archives properties in the shape of a `.mom`.
struct PropertyArchiver {
    typealias Field = KeyedArchiveBuilder.Field

    /// The references of entities and of their properties, known before any is filled.
    let references: [ObjectIdentifier: Int]

    func fill(
        _ reference: Int, with property: NSPropertyDescription,
        into builder: inout KeyedArchiveBuilder
    ) throws {
        var fields = try commonFields(property, &builder)
        var className = "NSPropertyDescription"
        switch property {
        case let attribute as NSAttributeDescription:
            className = try add(attribute, to: &fields, &builder)
        case let relationship as NSRelationshipDescription:
            className = "NSRelationshipDescription"
            add(relationship, to: &fields, &builder)
        case let fetched as NSFetchedPropertyDescription:
            className = "NSFetchedPropertyDescription"
            add(fetched, to: &fields, &builder)
        default:
            throw ModelFileError(
                .unsupportedFormat,
                "Property “\(property.name)” is neither attribute, relationship nor fetched"
                    + " property; a"
                    + " compiled model cannot hold it.", fields: ["property": property.name])
        }
        let isKindOfAttribute = property is NSAttributeDescription
        let parents =
            isKindOfAttribute && className != "NSAttributeDescription"
            ? ["NSAttributeDescription"] : []
        builder.fill(
            reference, [className] + parents + ["NSPropertyDescription", "NSObject"], fields)
    }

    // MARK: Fields

    private func commonFields(
        _ property: NSPropertyDescription, _ builder: inout KeyedArchiveBuilder
    ) throws -> [(String, Field)] {
        let isReadOnly =
            property.marks.contains(.readOnly)
            || property is NSDerivedAttributeDescription || property is NSFetchedPropertyDescription
        var fields: [(String, Field)] = [
            ("NSPropertyName", .reference(builder.string(property.name))),
            ("NSEntity", .reference(references[ObjectIdentifier(property.entity)] ?? 0)),
            (
                "NSRenamingIdentifier",
                .reference(builder.string(property.renamingIdentifier ?? property.name))
            ),
            ("_P", .integer(Self.packedFlags(of: property, isReadOnly: isReadOnly))),
        ]
        if let modifier = property.versionHashModifier {
            fields.append(("NSVersionHashModifier", .reference(builder.string(modifier))))
        }
        if let userInfo = property.userInfo {
            let reference = try ValueArchiver.userInfo(userInfo, of: property.name, into: &builder)
            fields.append(("NSUserInfo", .reference(reference)))
        }
        let flags = [
            ("NSIsOptional", property.isOptional), ("NSIsTransient", property.isTransient),
            ("NSIsReadOnly", isReadOnly), ("NSIsIndexed", property.isIndexed),
            ("NSIndexedBySpotlight", property.isIndexedBySpotlight),
            (OwnKey.isStoredInExternalRecord, property.isStoredInExternalRecord),
            (OwnKey.isLocal, !property.marks.contains(.syncable)),
        ]
        return fields + flags.filter(\.1).map { ($0.0, .bool(true)) }
    }

    /// Apple's packed flags: a base, and a bit for each of a property's marks.
    private static func packedFlags(of property: NSPropertyDescription, isReadOnly: Bool) -> Int {
        let isOrdered = (property as? NSRelationshipDescription)?.isOrdered == true
        let isEncrypted = (property as? NSAttributeDescription)?.allowsCloudEncryption == true
        let bits = [
            (0x02, property.isOptional), (0x04, isReadOnly), (0x08, property.isTransient),
            (0x100, property.isIndexedBySpotlight), (0x400, isOrdered), (0x800, isEncrypted),
        ]
        return bits.filter(\.1).reduce(0xF1) { $0 | $1.0 }
    }

    /// Adds an attribute's fields and returns its class.
    private func add(
        _ attribute: NSAttributeDescription, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) throws -> String {
        let flags =
            (attribute.allowsExternalBinaryDataStorage ? 4 : 0)
            | (attribute.preservesValueInHistoryOnDeletion ? 16 : 0)
        let className = attribute.attributeValueClassName ?? attribute.attributeType.valueClassName
        fields += [
            ("NSAttributeType", .integer(Int(attribute.attributeType.rawValue))),
            ("NSAttributeValueClassName", .reference(builder.string(className))),
            ("NSValueTransformerName", .reference(builder.string(attribute.valueTransformerName))),
            (
                "NSDefaultValue",
                .reference(try ValueArchiver.defaultValue(of: attribute, into: &builder))
            ),
            ("NSFlagsKey", .integer(flags)),
        ]
        if attribute.allowsCloudEncryption {
            fields.append(("NSAllowsCloudEncryption", .bool(true)))
        }
        addValidation(of: attribute, to: &fields, &builder)
        switch attribute {
        case let derived as NSDerivedAttributeDescription:
            let expression = ExpressionArchiver.derivation(derived, into: &builder) ?? 0
            fields += [
                ("NSDerivationExpression", .reference(expression)),
                ("NSFilteringPredicate", .reference(KeyedArchiveBuilder.null)),
                (OwnKey.derivation, .reference(builder.string(derived.derivationExpressionText))),
            ]
            return "NSDerivedAttributeDescription"
        case let composite as NSCompositeAttributeDescription:
            let elements = try composite.elements.map { element in
                let reference = builder.reserve()
                try fill(reference, with: element, into: &builder)
                return reference
            }
            fields += [
                ("NSCompositeElements", .reference(builder.array(elements))),
                (OwnKey.compositeName, .reference(builder.string(composite.compositeName))),
            ]
            return "NSCompositeAttributeDescription"
        default: return "NSAttributeDescription"
        }
    }

    private func addValidation(
        of attribute: NSAttributeDescription, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        let bounds = ExpressionArchiver.bounds(of: attribute, into: &builder)
        if !bounds.isEmpty {
            let warnings = bounds.map { _ in builder.string("The value is out of bounds.") }
            fields += [
                ("NSValidationPredicates", .reference(builder.array(bounds))),
                ("NSValidationWarnings", .reference(builder.array(warnings))),
            ]
        }
        guard !attribute.validation.rules.isEmpty else { return }
        let rules = attribute.validation.rules.flatMap { rule in
            [builder.string(rule.predicate), builder.string(rule.warning)]
        }
        fields.append((OwnKey.validationRules, .reference(builder.array(rules))))
    }

    private func add(
        _ relationship: NSRelationshipDescription, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        let destination = relationship.destinationEntity.flatMap {
            references[ObjectIdentifier($0)]
        }
        let inverse = relationship.inverseRelationship.flatMap { references[ObjectIdentifier($0)] }
        fields += [
            ("NSDestinationEntity", .reference(destination ?? 0)),
            ("NSInverseRelationship", .reference(inverse ?? 0)),
            (
                "_NSDestinationEntityName",
                .reference(builder.string(relationship.destinationEntityName))
            ),
            (
                "_NSInverseRelationshipName",
                .reference(builder.string(relationship.inverseRelationshipName))
            ),
            ("NSDeleteRule", .integer(Int(relationship.deleteRule.rawValue))),
            ("NSMaxCount", .integer(relationship.givenCounts.max)),
            ("NSMinCount", .integer(relationship.givenCounts.min)),
        ]
        if relationship.isOrdered { fields.append(("NSIsOrdered", .bool(true))) }
    }

    private func add(
        _ fetched: NSFetchedPropertyDescription, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        guard let template = fetched.template else { return }
        let request = RequestArchiver.request(template, references: references, into: &builder)
        fields += [
            ("NSFetchRequest", .reference(request)),
            ("_NSFetchRequestEntityName", .reference(builder.string(template.entityName))),
        ]
    }
}
