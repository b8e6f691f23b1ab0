package import Foundation

/// One object of a binary property list. Containers name their members by place in the object
/// table, so that a file whose containers share members cannot grow when it is read.
package enum PropertyListNode: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001-01-01 UTC.
    case date(Double)
    case data(Data)
    case string(String)
    /// A reference within a keyed archive.
    case uid(Int)
    case array([Int])
    /// Keys and values in pairs.
    case dictionary([Pair])

    /// Texts are equal when their bytes are: a table that keeps equal texts once must not take one
    /// that only looks alike.
    package static func == (left: PropertyListNode, right: PropertyListNode) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)), (.date(let one), .date(let other)):
            one.bitPattern == other.bitPattern
        case (.data(let one), .data(let other)): one == other
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.uid(let one), .uid(let other)): one == other
        case (.array(let one), .array(let other)): one == other
        case (.dictionary(let one), .dictionary(let other)): one == other
        case (.null, _), (.bool, _), (.integer, _), (.real, _), (.date, _), (.data, _),
            (.string, _), (.uid, _), (.array, _), (.dictionary, _):
            false
        }
    }

    package struct Pair: Hashable, Sendable {
        package let key: Int
        package let value: Int

        package init(key: Int, value: Int) {
            self.key = key
            self.value = value
        }
    }
}

/// A binary property list as its table of objects.
package struct PropertyListTable {
    package var nodes: [PropertyListNode]
    package var root: Int

    package init(nodes: [PropertyListNode], root: Int) {
        self.nodes = nodes
        self.root = root
    }

    /// How many members all containers have together.
    package var references: Int {
        nodes.reduce(0) { count, node in
            switch node {
            case .array(let members): count + members.count
            case .dictionary(let pairs): count + 2 * pairs.count
            case .null, .bool, .integer, .real, .date, .data, .string, .uid: count
            }
        }
    }

    package func node(_ place: Int) -> PropertyListNode? {
        nodes.indices.contains(place) ? nodes[place] : nil
    }

    /// The members of a dictionary by key; nil for every other node. Keys that are no text are
    /// left out.
    package func fields(_ place: Int) -> [String: Int]? {
        guard case .dictionary(let pairs) = node(place) else { return nil }
        var fields: [String: Int] = [:]
        for pair in pairs {
            if case .string(let key) = node(pair.key) { fields[key] = pair.value }
        }
        return fields
    }
}
