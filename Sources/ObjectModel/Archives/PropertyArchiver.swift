internal import Foundation

/// Archives properties in the shape of a `.mom`.
struct PropertyArchiver {
    typealias Field = KeyedArchiveBuilder.Field

    /// The references of entities and of their properties, known before any is filled.
    let references: ArchiveReferences
    let predicates: any PredicateArchiving

    /// Fills a property's place; `owner` is the entity that has it, which in a model cache may
    /// inherit it.
    func fill(
        _ reference: Int, with property: NSPropertyDescription, of owner: Int,
        into builder: inout KeyedArchiveBuilder
    ) throws {
        var fields = try commonFields(property, of: owner, &builder)
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

    private var requests: RequestArchiver {
        RequestArchiver(entities: references.entities, predicates: predicates)
    }

    // MARK: Fields

    private func commonFields(
        _ property: NSPropertyDescription, of owner: Int, _ builder: inout KeyedArchiveBuilder
    ) throws -> [(String, Field)] {
        let isReadOnly =
            property.marks.contains(.readOnly)
            || property is NSDerivedAttributeDescription || property is NSFetchedPropertyDescription
        var fields: [(String, Field)] = [
            ("NSPropertyName", .reference(builder.string(property.name))),
            ("NSEntity", .reference(owner)),
            (
                "NSRenamingIdentifier",
                .reference(builder.string(property.givenRenamingIdentifier ?? property.name))
            ),
            ("_P", .integer(Self.packedFlags(of: property, isReadOnly: isReadOnly))),
        ]
        if let modifier = property.versionHashModifier {
            fields.append(("NSVersionHashModifier", .reference(builder.string(modifier))))
        }
        if let userInfo = property.userInfo, !userInfo.isEmpty {
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

    /// Apple's packed flags: a bit for each of a property's marks, and one for each part it lacks.
    private static func packedFlags(of property: NSPropertyDescription, isReadOnly: Bool) -> Int {
        let isOrdered = (property as? NSRelationshipDescription)?.isOrdered == true
        let isEncrypted = (property as? NSAttributeDescription)?.allowsCloudEncryption == true
        let isFree =
            property.givenValidation?.predicates.isEmpty
            ?? (property as? NSAttributeDescription)?.validation.isEmpty ?? true
        let bits = [
            (0x02, property.isOptional), (0x04, isReadOnly), (0x08, property.isTransient),
            (0x30, isFree), (0x40, property.userInfo?.isEmpty ?? true),
            (0x80, property.versionHashModifier == nil),
            (0x100, property.isIndexedBySpotlight), (0x400, isOrdered), (0x800, isEncrypted),
        ]
        return bits.filter(\.1).reduce(0x01) { $0 | $1.0 }
    }

    /// Adds an attribute's fields and returns its class.
    private func add(
        _ attribute: NSAttributeDescription, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) throws -> String {
        let flags =
            (attribute.allowsExternalBinaryDataStorage ? 4 : 0)
            | (attribute.preservesValueInHistoryOnDeletion ? 16 : 0)
        let className = attribute.attributeValueClassName
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
        fields += ValidationArchiver.fields(of: attribute, predicates, into: &builder)
        switch attribute {
        case let derived as NSDerivedAttributeDescription:
            addDerivation(of: derived, to: &fields, &builder)
            return "NSDerivedAttributeDescription"
        case let composite as NSCompositeAttributeDescription:
            let elements = try composite.elements.map { element in
                let reference = builder.reserve()
                try fill(
                    reference, with: element, of: KeyedArchiveBuilder.null, into: &builder)
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

    private func addDerivation(
        of derived: NSDerivedAttributeDescription, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        let text = VersionHashing.hashedText(of: derived)
        let expression = predicates.archive(expression: text, into: &builder)
        fields += [
            ("NSDerivationExpression", .reference(expression ?? KeyedArchiveBuilder.null)),
            ("NSFilteringPredicate", .reference(KeyedArchiveBuilder.null)),
        ]
        if expression == nil, let text = derived.derivationExpressionText {
            fields.append((OwnKey.derivation, .reference(builder.string(text))))
        }
    }

    private func add(
        _ relationship: NSRelationshipDescription, to fields: inout [(String, Field)],
        _ builder: inout KeyedArchiveBuilder
    ) {
        let destination = relationship.destinationEntity.flatMap(references.entity)
        let inverse = relationship.inverseRelationship.flatMap(references.property)
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
        let request = requests.request(
            template, known: FetchRequestTemplate.fetchedPropertyName, into: &builder)
        fields += [
            ("NSFetchRequest", .reference(request)),
            ("_NSFetchRequestEntityName", .reference(builder.string(template.entityName))),
        ]
    }
}
