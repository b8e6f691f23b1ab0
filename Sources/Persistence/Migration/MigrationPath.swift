internal import Foundation
internal import ObjectModel

/// Finds the way of a store over the versions of its model.
///
/// Each version is one step after the one before it, since each was made to follow that one: a
/// value that was renamed twice is found. A mapping model comes before inference, wherever it
/// leads. Where an inferred step would lose values, or is forbidden, one that leaves versions out
/// may be better: so a version whose name stands in the wrong place does no harm.
struct MigrationPath {
    /// How one version becomes another.
    struct Edge {
        let from: Int
        let to: Int
        /// None where it is inferred; several where each takes a part of the entities.
        let mappings: [NSMappingModel]
    }

    private let versions: ModelVersions
    /// The mapping models by the version they begin with.
    private let mapped: [Int: [Edge]]
    /// The names and identifiers in each version: what a version before may become.
    private let names: [Set<String>]

    init(_ versions: ModelVersions) {
        self.versions = versions
        let models = versions.versions.map(\.model)
        names = models.map(Self.names)
        var mapped: [Int: [Edge]] = [:]
        for from in models.indices {
            let candidates = versions.mappings.filter { $0.fitsSource(models[from]) }
            guard !candidates.isEmpty else { continue }
            for to in models.indices where to != from {
                let parts = NSMappingModel.parts(
                    of: candidates.filter { $0.fits(models[from], models[to]) })
                guard !parts.isEmpty else { continue }
                mapped[from, default: []].append(Edge(from: from, to: to, mappings: parts))
            }
        }
        self.mapped = mapped
    }

    /// Each entity's, and each property's with its entity's.
    private static func names(of model: NSManagedObjectModel) -> Set<String> {
        Set(
            model.entities.flatMap { entity in
                names(of: entity)
                    + entity.propertiesByName.values.flatMap { names(of: $0, in: entity) }
            })
    }

    private static func names(of entity: NSEntityDescription) -> [String] {
        [entity.name, entity.givenRenamingIdentifier].compactMap { $0 }
    }

    private static func names(
        of property: NSPropertyDescription, in entity: NSEntityDescription
    ) -> [String] {
        names(of: entity).flatMap { owner in
            [property.name, property.givenRenamingIdentifier ?? property.name]
                .map { "\(owner).\($0)" }
        }
    }

    // MARK: Searching

    /// The steps between two versions; nil where none lead there.
    func steps(from start: Int, to goal: Int) -> [Edge]? { search(from: start, to: goal).steps }

    /// The same, with how many pairs of versions were compared for it: those that follow each
    /// other, and others where the names in them say that less may be lost. Where a mapping model
    /// leads to the next version, others are compared only if no way is found so.
    func search(from start: Int, to goal: Int) -> (steps: [Edge]?, comparisons: Int) {
        var comparisons = 0
        for isThorough in [false, true] {
            let found = search(from: start, to: goal, isThorough, &comparisons)
            if let found { return (found, comparisons) }
        }
        return (nil, comparisons)
    }

    private func search(
        from start: Int, to goal: Int, _ isThorough: Bool, _ comparisons: inout Int
    ) -> [Edge]? {
        var frontier = [start: 0]
        var reachedBy: [Int: Edge] = [:]
        var settled: Set<Int> = []
        while let (place, cost) = frontier.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
            if place == goal { return steps(to: goal, reachedBy) }
            frontier[place] = nil
            settled.insert(place)
            for (edge, more) in edges(from: place, to: goal, isThorough, &comparisons)
            where !settled.contains(edge.to) {
                guard frontier[edge.to].map({ cost + more < $0 }) ?? true else { continue }
                frontier[edge.to] = cost + more
                reachedBy[edge.to] = edge
            }
        }
        return nil
    }

    private func steps(to goal: Int, _ reachedBy: [Int: Edge]) -> [Edge] {
        var steps: [Edge] = []
        var place = goal
        while let edge = reachedBy[place] {
            steps.append(edge)
            place = edge.from
        }
        return steps.reversed()
    }

    // MARK: Costs

    private static let mappedCost = 10
    private static let inferredCost = 11
    private static let skipCost = 100
    private static let lossCost = 100_000

    /// No inferred step leads back, or beyond the goal.
    private func edges(
        from start: Int, to goal: Int, _ isThorough: Bool, _ comparisons: inout Int
    ) -> [(edge: Edge, cost: Int)] {
        let known = mapped[start] ?? []
        var edges = known.map { ($0, Self.mappedCost) }
        if !isThorough, known.contains(where: { $0.to == start + 1 }) { return edges }
        var fewest = Int.max
        for end in start + 1..<max(goal + 1, start + 1)
        where !known.contains(where: { $0.to == end }) {
            guard fewest == .max || leastLosses(start, end) < fewest else { continue }
            comparisons += 1
            guard let losses = losses(start, end) else { continue }
            fewest = min(fewest, losses)
            let cost =
                Self.inferredCost + Self.skipCost * (end - start - 1) + Self.lossCost * losses
            edges.append((Edge(from: start, to: end, mappings: []), cost))
            if losses == 0 { break }
        }
        return edges
    }

    /// How many entities and properties an inferred step loses; nil where it is forbidden.
    private func losses(_ start: Int, _ end: Int) -> Int? {
        let models = [start, end].map { versions.versions[$0].model }
        let (mapping, refusals) = InferredMapping.attempt(
            from: models[0].entities, to: models[1].entities)
        guard refusals.isEmpty else { return nil }
        let removed = mapping.removed.reduce(0) { $0 + Self.size(of: $1) }
        return mapping.matches.reduce(removed) { sum, match in
            guard let source = match.source else { return sum }
            let kept = Set(
                match.attributes.compactMap { $0.source?.name }
                    + match.relationships.compactMap { $0.source?.name })
            return sum + Self.stored(source).filter { !kept.contains($0.name) }.count
        }
    }

    /// How many entities and properties have no name that the other version has: so many are lost
    /// at least.
    private func leastLosses(_ start: Int, _ end: Int) -> Int {
        let names = names[end]
        return versions.versions[start].model.entities.reduce(0) { sum, entity in
            if names.isDisjoint(with: Self.names(of: entity)) {
                return sum + Self.size(of: entity)
            }
            let lost = Self.stored(entity).filter {
                names.isDisjoint(with: Self.names(of: $0, in: entity))
            }
            return sum + lost.count
        }
    }

    /// What is lost with an entity.
    private static func size(of entity: NSEntityDescription) -> Int { 1 + stored(entity).count }

    private static func stored(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.propertiesByName.values.filter {
            !$0.isTransient && !($0 is NSFetchedPropertyDescription)
                && !($0 is NSDerivedAttributeDescription)
        }
    }
}
