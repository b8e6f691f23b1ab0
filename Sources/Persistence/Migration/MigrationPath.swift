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

    init(_ versions: ModelVersions) {
        self.versions = versions
        let models = versions.versions.map(\.model)
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

    /// The steps between two versions; nil where none lead there.
    func steps(from start: Int, to goal: Int) -> [Edge]? {
        var reached: [Int: (cost: Int, by: Edge?)] = [start: (0, nil)]
        var settled: Set<Int> = []
        while let next = reached.filter({ !settled.contains($0.key) })
            .min(by: { ($0.value.cost, $0.key) < ($1.value.cost, $1.key) })
        {
            if next.key == goal { return steps(to: goal, reached) }
            settled.insert(next.key)
            for (edge, cost) in edges(from: next.key, to: goal) where !settled.contains(edge.to) {
                let sum = next.value.cost + cost
                if reached[edge.to].map({ sum < $0.cost }) ?? true {
                    reached[edge.to] = (sum, edge)
                }
            }
        }
        return nil
    }

    private func steps(to goal: Int, _ reached: [Int: (cost: Int, by: Edge?)]) -> [Edge] {
        var steps: [Edge] = []
        var place = goal
        while let edge = reached[place]?.by {
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
    private func edges(from start: Int, to goal: Int) -> [(edge: Edge, cost: Int)] {
        var edges = (mapped[start] ?? []).map { ($0, Self.mappedCost) }
        for end in start + 1..<max(goal + 1, start + 1) {
            guard !edges.contains(where: { $0.0.to == end }), let losses = losses(start, end) else {
                continue
            }
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
        return mapping.matches.reduce(mapping.removed.count) { sum, match in
            guard let source = match.source else { return sum }
            let kept = Set(
                match.attributes.compactMap { $0.source?.name }
                    + match.relationships.compactMap { $0.source?.name })
            let stored = source.propertiesByName.values.filter {
                !$0.isTransient && !($0 is NSFetchedPropertyDescription)
                    && !($0 is NSDerivedAttributeDescription)
            }
            return sum + stored.filter { !kept.contains($0.name) }.count
        }
    }
}
