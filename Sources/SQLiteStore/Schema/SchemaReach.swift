internal import ObjectModel
internal import Stores

/// Which entities decide on the columns of one: those whose tables it names, and those that ask for
/// columns in these tables, or for names in the join tables beside them.
struct SchemaReach: Sendable {
    private let layout: ModelLayout
    /// Who has to-manys without inverse, by the roots of their members.
    private let owners: [Int32: Set<Int32>]
    private let roots: [Int32: Int32]
    private let trees: [Int32: [Int32]]

    /// Cost: a look at each property. Nil where a name is such that names made of it and of a
    /// number may meet those of others, and where attributes are kept after deletion.
    init?(_ layout: ModelLayout) {
        self.layout = layout
        var owners: [Int32: Set<Int32>] = [:]
        var roots: [Int32: Int32] = [:]
        var trees: [Int32: [Int32]] = [:]
        for (entity, number) in layout.members {
            guard Self.isPlain(entity.name ?? "") else { return nil }
            let root = layout.root(of: number)
            roots[number] = root
            trees[root, default: []].append(number)
            for property in entity.properties {
                if let attribute = property as? NSAttributeDescription {
                    if attribute.preservesValueInHistoryOnDeletion { return nil }
                    continue
                }
                guard let relationship = property as? NSRelationshipDescription else { continue }
                guard Self.isPlain(relationship.name) else { return nil }
                if relationship.isToMany, relationship.inverseRelationship == nil,
                    let member = relationship.destinationEntity.flatMap(layout.number)
                {
                    owners[layout.root(of: member), default: []].insert(number)
                }
            }
        }
        (self.owners, self.roots, self.trees) = (owners, roots, trees)
    }

    /// Letters, digits and underscores, a letter first.
    private static func isPlain(_ name: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
        }
        guard let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy {
            isLetter($0) || $0 == UInt8(ascii: "_")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }

    func entities(for number: Int32) -> Set<Int32> {
        let own = root(number)
        let (ends, partners) = neighbours(of: own)
        var needed = ends.union([own])
        // Equal names of join columns are told apart among all that end at one entity.
        for partner in partners { needed.formUnion(neighbours(of: partner).partners) }
        let asking = needed.flatMap { owners[$0] ?? [] }.map(root)
        return Set(needed.union(asking).flatMap { trees[$0] ?? [] })
    }

    private func root(_ number: Int32) -> Int32 { roots[number] ?? number }

    /// The roots of the trees to which the relationships of a tree lead, and those among them to
    /// which pairs do.
    private func neighbours(of tree: Int32) -> (ends: Set<Int32>, partners: Set<Int32>) {
        var ends: Set<Int32> = []
        var partners: Set<Int32> = []
        for number in trees[tree] ?? [] {
            guard let entity = layout.entity(number) else { continue }
            for relationship in entity.toOnes + entity.toManys {
                guard let end = relationship.destinationEntity.flatMap(layout.number).map(root)
                else { continue }
                ends.insert(end)
                if relationship.isToMany, relationship.inverseRelationship?.isToMany == true {
                    partners.insert(end)
                }
            }
        }
        return (ends, partners)
    }
}
