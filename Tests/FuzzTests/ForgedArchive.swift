import Foundation
import ObjectModel

/// Keyed archives and property lists that no program would write.
struct ForgedArchive {
    var nodes: [PropertyListNode] = [.null]
    /// Places of the archive's objects among the nodes; the first is `$null`.
    private var objects: [Int] = [0]

    mutating func add(_ node: PropertyListNode) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    mutating func fields(_ fields: [(String, Int)]) -> PropertyListNode {
        .dictionary(fields.map { .init(key: add(.string($0.0)), value: $0.1) })
    }

    /// A reference for an object that is put later.
    mutating func reserve() -> Int {
        objects.append(0)
        return objects.count - 1
    }

    /// Puts a plain value; returns its reference.
    mutating func plain(_ node: PropertyListNode) -> Int {
        objects.append(add(node))
        return objects.count - 1
    }

    /// Puts an object, whose fields are places of nodes; returns its reference.
    @discardableResult
    mutating func put(
        _ className: String, _ given: [(String, Int)], at reference: Int? = nil
    ) -> Int {
        let reference = reference ?? reserve()
        let description = plain(fields([("$classname", add(.string(className)))]))
        objects[reference] = add(fields(given + [("$class", add(.uid(description)))]))
        return reference
    }

    /// The place of a node that refers to an object.
    mutating func link(_ reference: Int) -> Int { add(.uid(reference)) }

    /// The place of a node that lists objects.
    mutating func list(_ references: [Int]) -> Int { add(.array(references.map { link($0) })) }

    mutating func dictionary(
        _ entries: [(Int, Int)], at reference: Int? = nil
    ) -> Int {
        put(
            "NSDictionary",
            [("NS.keys", list(entries.map(\.0))), ("NS.objects", list(entries.map(\.1)))],
            at: reference)
    }

    /// The bytes of the archive whose root is `root`.
    mutating func data(root: Int) -> Data {
        let top = add(fields([("root", link(root))]))
        let all = add(.array(objects))
        let place = add(fields([("$objects", all), ("$top", top)]))
        return Self.plist(nodes, root: place)
    }

    static func plist(_ nodes: [PropertyListNode], root: Int) -> Data {
        PropertyListWriter.data(PropertyListTable(nodes: nodes, root: root))
    }
}
