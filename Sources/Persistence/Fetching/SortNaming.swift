internal import Foundation
internal import ObjectModel
internal import Predicates

/// Finds the model's name for the Swift key path of a sort descriptor, so that stores can sort by
/// it; see `KeyPathNaming`.
enum SortNaming {
    /// The same order by name; the descriptor itself where the name cannot be found.
    static func named(
        _ descriptor: NSSortDescriptor, entity: NSEntityDescription
    ) -> NSSortDescriptor {
        let naming = { KeyPathNaming.name(of: $0, entity: entity) }
        guard key(of: descriptor) == nil, let found = key(of: descriptor, naming: naming)
        else { return descriptor }
        return NSSortDescriptor(
            key: found.path.joined(separator: "."), ascending: found.ascending,
            comparison: found.comparison)
    }
}
