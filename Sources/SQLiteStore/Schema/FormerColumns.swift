internal import ObjectModel
internal import Stores

/// The columns of composites and derived attributes in a file of a model that named them otherwise.
///
/// Their names are in no version hash, so a model that renames one fits the file as it is. But a
/// derived attribute's column has its name, and where elements of several composites have one name,
/// their columns are told apart by a number that goes by the order of the composites' names: those
/// of the model that made the file count.
struct FormerColumns: Sendable {
    /// By entity and the attribute's slot.
    private var names: [Int32: [String]] = [:]

    /// Nil where nothing is to be told apart. `read` gives the model that made the file, nil where
    /// it is not known.
    init?(of layout: ModelLayout, made read: () -> NSManagedObjectModel?) {
        guard layout.members.contains(where: { Self.hasUnhashed($0.entity) }),
            layout.entities.contains(where: Self.isAtStake), let model = read()
        else { return nil }
        let kept = layout.entities.filter {
            model.entitiesByName[$0.name]?.versionHash == $0.entity.versionHash
        }
        let renamed = kept.filter { entity in
            Self.paths(of: entity)
                != model.entitiesByName[entity.name].map {
                    Self.paths(of: EntityLayout(entity: $0, number: entity.number))
                }
        }
        guard !renamed.isEmpty else { return nil }
        let numbers = Dictionary(
            layout.entities.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        guard kept.count == layout.entities.count,
            let schema = try? SchemaBuilder.schema(of: ModelLayout(model: model, numbers: numbers))
        else { return nil }
        let matches = InferredMapping.attempt(
            from: model.entities, to: layout.entities.map(\.entity)
        ).mapping.matches
        for entity in renamed {
            guard let match = matches.first(where: { $0.destination === entity.entity }),
                let former = schema.layout.entity(entity.number),
                let known = schema.columns(of: entity.number)
            else { continue }
            names[entity.number] = Self.names(of: entity, match, former, known)
        }
    }

    /// The columns with the names they have in the file.
    func renaming(_ columns: EntityColumns) -> EntityColumns {
        guard let names = names[columns.number] else { return columns }
        let attributes = zip(columns.attributes, names).map { column, name in
            var column = column
            column.name = name
            return column
        }
        return columns.replacing(attributes: attributes)
    }

    /// A look that makes no layouts.
    private static func hasUnhashed(_ entity: NSEntityDescription) -> Bool {
        entity.properties.contains {
            $0 is NSCompositeAttributeDescription || $0 is NSDerivedAttributeDescription
        }
    }

    /// Whether an attribute is derived, or elements of two composites have one column name but for
    /// its number.
    private static func isAtStake(_ entity: EntityLayout) -> Bool {
        var seen: Set<String> = []
        return entity.attributes.contains { slot in
            if slot.attribute is NSDerivedAttributeDescription { return true }
            return slot.name.contains(".")
                && !seen.insert(slot.attribute.name.uppercased()).inserted
        }
    }

    private static func paths(of entity: EntityLayout) -> [String] {
        entity.attributes.filter {
            $0.name.contains(".") || $0.attribute is NSDerivedAttributeDescription
        }.map(\.name)
    }

    /// What was renamed without a word of it takes what is left, in order.
    private static func names(
        of entity: EntityLayout, _ match: EntityMatch, _ former: EntityLayout,
        _ known: EntityColumns
    ) -> [String]? {
        let slots = entity.attributes.map { attribute -> Int? in
            let path = attribute.name.split(separator: ".").map(String.init)
            let property = match.attributes.first { $0.destination.name == path.first }
            guard let property, let origin = property.source,
                let rest = property.formerPath(of: path.dropFirst())
            else { return nil }
            return former.attributeSlot(([origin.name] + rest).joined(separator: "."))
        }
        let taken = Set(slots.compactMap { $0 })
        var left = known.attributes.indices.filter { !taken.contains($0) }[...]
        let found = slots.compactMap { $0 ?? left.popFirst() }.map { known.attributes[$0].name }
        return Set(found).count == entity.attributes.count ? found : nil
    }
}
