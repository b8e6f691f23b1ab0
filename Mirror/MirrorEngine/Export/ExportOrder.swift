internal import ObjectModel
package import Stores

/// The order in which entities are first sent: those that to-one relationships lead to come before
/// those they start from, as far as there are no circles.
///
/// A device that imports then knows a link's target when the link arrives. Otherwise it keeps the
/// link aside and writes the row twice, which is right too, but slower.
package struct ExportOrder: Sendable {
    package let entities: [EntityLayout]
    private let ranks: [Int32: Int]
    private let targets: Set<Int32>

    package init(layout: ModelLayout) {
        var ordered: [EntityLayout] = []
        var seen: Set<Int32> = []
        var targets: Set<Int32> = []
        func visit(_ entity: EntityLayout) {
            guard seen.insert(entity.number).inserted else { return }
            for relationship in entity.toOnes {
                guard let name = relationship.destinationEntity?.name,
                    let destination = layout.entity(named: name)
                else { continue }
                let family = layout.family(of: destination)
                targets.formUnion(family)
                family.compactMap(layout.entity).forEach(visit)
            }
            ordered.append(entity)
        }
        layout.entities.forEach(visit)
        entities = ordered
        self.targets = targets
        ranks = Dictionary(
            uniqueKeysWithValues: ordered.enumerated().map { ($1.number, $0) })
    }

    package func precedes(_ one: RowID, _ other: RowID) -> Bool {
        (ranks[one.entity] ?? 0, one.key) < (ranks[other.entity] ?? 0, other.key)
    }

    /// Whether to-one relationships lead to objects of an entity.
    func isTarget(_ entity: Int32) -> Bool { targets.contains(entity) }
}
