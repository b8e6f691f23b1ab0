/// Finds properties by name while a model is put together, when no entity has its dictionaries yet.
/// Cost: each entity is gathered once.
struct PropertyFinder {
    private var declared: [ObjectIdentifier: [String: NSPropertyDescription]] = [:]

    /// The property of that name, declared by the entity or nearest among its ancestors, of which
    /// there are at most `ModelBounds.ancestorsMax`.
    mutating func property(
        named name: String, in entity: NSEntityDescription
    ) -> NSPropertyDescription? {
        var next: NSEntityDescription? = entity
        while let current = next {
            if let own = properties(of: current)[name] { return own }
            next = current.superentity
        }
        return nil
    }

    private mutating func properties(
        of entity: NSEntityDescription
    ) -> [String: NSPropertyDescription] {
        if let known = declared[ObjectIdentifier(entity)] { return known }
        let made = Dictionary(
            entity.declaredProperties.map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        declared[ObjectIdentifier(entity)] = made
        return made
    }
}
