internal import Foundation
public import ObjectModel

/// The numbers a fresh store gives its entities (FORMAT §3): roots by name without case, each
/// followed by its subentities depth first, from 1.
public enum EntityNumbering {
    /// The numbers by the entities' names. Parents that are not among `entities` count as absent.
    public static func numbers(for entities: [NSEntityDescription]) -> [String: Int32] {
        let members = Set(entities.map(ObjectIdentifier.init))
        let roots = entities.filter { entity in
            entity.superentity.map { !members.contains(ObjectIdentifier($0)) } ?? true
        }
        var numbers: [String: Int32] = [:]
        func visit(_ siblings: [NSEntityDescription]) {
            for entity in siblings.sorted(by: precedes)
            where members.contains(ObjectIdentifier(entity)) {
                numbers[entity.name ?? ""] = Int32(numbers.count + 1)
                visit(entity.subentities.filter { $0.superentity === entity })
            }
        }
        visit(roots)
        return numbers
    }

    private static func precedes(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool
    {
        precedes(left.name ?? "", right.name ?? "")
    }

    /// The order of entities' names: without case, then by bytes.
    public static func precedes(_ first: String, _ second: String) -> Bool {
        let (lower, other) = (Array(first.lowercased().utf8), Array(second.lowercased().utf8))
        return lower == other
            ? first.utf8.lexicographicallyPrecedes(second.utf8)
            : lower.lexicographicallyPrecedes(other)
    }
}
