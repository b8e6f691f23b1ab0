package import Foundation

/// How far a keyed archive from a stranger reaches, looked at before Foundation unarchives it.
///
/// Foundation follows the references of an archive by recursion: one that leads to itself, or over
/// many thousand objects, ends the program. And it reads a list that stands in several places as
/// often as it stands there.
package struct ArchiveReach {
    private let table: PropertyListTable
    /// Places of the archive's objects among the nodes.
    private let objects: [Int]
    /// For each node what is below it; nil while not known.
    private var known: [Below?]

    /// How many references follow one another, and how many nodes there are up to the next ones.
    private struct Below {
        var depth = 0
        var nodes = 1
    }

    private static let depthMax = 200
    private static let limits = PropertyListReader.Limits(
        bytes: 1 << 30, objects: 16_000_000, references: 64_000_000)

    /// Whether `data` is a binary archive without circles that nests no deeper than real ones.
    /// Cost: one pass over the archive.
    package static func isBounded(_ data: Data) -> Bool {
        guard let table = try? PropertyListReader.table(data, file: "value", limits: limits),
            let list = table.fields(table.root)?["$objects"],
            case .array(let objects) = table.node(list)
        else { return false }
        var reach = ArchiveReach(table: table, objects: objects)
        return reach.isBounded(below: table.root)
    }

    private init(table: PropertyListTable, objects: [Int]) {
        self.table = table
        self.objects = objects
        known = Array(repeating: nil, count: table.nodes.count)
    }

    /// What a node leads to, and whether by reference.
    private func members(_ place: Int) -> (places: [Int], isReference: Bool) {
        switch table.node(place) {
        case .uid(let reference):
            (objects.indices.contains(reference) ? [objects[reference]] : [], true)
        case .array(let members): (members, false)
        case .dictionary(let pairs): (pairs.map(\.value), false)
        case .null, .bool, .integer, .real, .date, .data, .string, nil: ([], false)
        }
    }

    /// A node whose members are being looked at.
    private struct Step {
        let place: Int
        let members: [Int]
        let isReference: Bool
        var next = 0
        var below = Below()

        /// Takes the next member into account.
        mutating func add(_ member: Below) {
            below.depth = max(below.depth, member.depth + (isReference ? 1 : 0))
            below.nodes += isReference ? 0 : min(member.nodes, .max / 2 - below.nodes)
            next += 1
        }
    }

    private func step(_ place: Int) -> Step {
        let (places, isReference) = members(place)
        return Step(place: place, members: places, isReference: isReference)
    }

    /// Walks without recursion, which the archive could make as deep as it likes.
    private mutating func isBounded(below root: Int) -> Bool {
        let nodesMax = 10_000 + 4 * table.references
        var isOpen = Array(repeating: false, count: known.count)
        var line = [step(root)]
        isOpen[root] = true
        while var current = line.popLast() {
            guard current.next < current.members.count else {
                guard current.below.depth <= Self.depthMax, current.below.nodes <= nodesMax else {
                    return false
                }
                known[current.place] = current.below
                isOpen[current.place] = false
                continue
            }
            let member = current.members[current.next]
            if let below = known[member] {
                current.add(below)
                line.append(current)
            } else {
                guard !isOpen[member] else { return false }
                isOpen[member] = true
                line.append(current)
                line.append(step(member))
            }
        }
        return true
    }
}
