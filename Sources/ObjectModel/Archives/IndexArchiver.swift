/// Archives the fetch indexes of entities.
struct IndexArchiver {
    let predicates: any PredicateArchiving

    func index(
        _ index: NSFetchIndexDescription, of owner: Int, into builder: inout KeyedArchiveBuilder
    ) -> Int {
        let reference = builder.reserve()
        let elements = index.elements.enumerated().map { place, element in
            self.element(element, place: place, of: reference, into: &builder)
        }
        let text = index.partialIndexPredicateText.flatMap { $0.isEmpty ? nil : $0 }
        let predicate = text.flatMap { predicates.archive(predicate: $0, into: &builder) }
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSIndexName", .reference(builder.string(index.name))),
            ("NSEntity", .reference(owner)),
            ("NSIndexElements", .reference(builder.array(elements))),
            ("NSPartialIndexPredicate", .reference(predicate ?? KeyedArchiveBuilder.null)),
        ]
        if predicate == nil, let text {
            fields.append((OwnKey.predicate, .reference(builder.string(text))))
        }
        builder.fill(reference, ["NSFetchIndexDescription", "NSObject"], fields)
        return reference
    }

    private func element(
        _ element: NSFetchIndexElementDescription, place: Int, of index: Int,
        into builder: inout KeyedArchiveBuilder
    ) -> Int {
        let name = element.propertyName ?? element.expressionName ?? "expression\(place + 1)"
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSPropertyName", .reference(builder.string(name))),
            ("NSFetchIndexElementType", .integer(Int(element.collationType.rawValue))),
            ("NSFetchIndexDescription", .reference(index)),
            ("NSAscending", .bool(element.isAscending)),
        ]
        if let text = element.expressionText {
            let type = element.expressionResultType
            let expression = self.expression(text, of: type, named: name, into: &builder)
            fields.append(("NSIndexedProperty", .reference(expression)))
        }
        return builder.object(["NSFetchIndexElementDescription", "NSObject"], fields)
    }

    private func expression(
        _ text: String, of type: NSAttributeType, named name: String,
        into builder: inout KeyedArchiveBuilder
    ) -> Int {
        let expression = predicates.archive(expression: text, into: &builder)
        let isSelf = text.uppercased() == "SELF" && type == .undefinedAttributeType
        let code = isSelf ? NSAttributeType.objectIDAttributeType : type
        var fields: [(String, KeyedArchiveBuilder.Field)] = [
            ("NSPropertyName", .reference(builder.string(name))),
            ("NSRenamingIdentifier", .reference(builder.string(name))),
            ("NSEntity", .reference(KeyedArchiveBuilder.null)),
            ("NSExpressionType", .integer(Int(code.rawValue))),
            ("NSExpression", .reference(expression ?? KeyedArchiveBuilder.null)),
            ("NSIsOptional", .bool(true)), ("NSIsReadOnly", .bool(true)),
            ("_P", .integer(0xF7)),
        ]
        if expression == nil {
            fields.append((OwnKey.expression, .reference(builder.string(text))))
        }
        return builder.object(
            ["NSExpressionDescription", "NSPropertyDescription", "NSObject"], fields)
    }
}

extension NSEntityDescription {
    /// The groups of names that the indexes over several attributes make: what compiled models say
    /// of them in the words of the older compound indexes. An index with a relationship makes none.
    var indexedGroups: [[String]] {
        indexes.filter { $0.elements.count > 1 }.compactMap { index in
            let names = index.elements.compactMap { element in
                element.propertyName.map { hasAttribute($0) ? $0 : nil }
                    ?? element.expressionText.map { $0 == "SELF" ? "self" : $0 }
            }
            return names.count == index.elements.count ? names : nil
        }
    }

    /// Whether the entity or an ancestor declares the attribute; ends for parents in a circle too,
    /// which only readers refuse.
    private func hasAttribute(_ name: String) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        var holder: NSEntityDescription? = self
        while let entity = holder, seen.insert(ObjectIdentifier(entity)).inserted {
            if let property = entity.declaredProperties.first(where: { $0.name == name }) {
                return property is NSAttributeDescription
            }
            holder = entity.superentity
        }
        return false
    }
}
