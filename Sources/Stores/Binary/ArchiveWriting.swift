internal import Foundation
internal import ObjectModel

/// Collects the objects of a keyed archive of plain values, arrays and dictionaries.
struct ArchiveWriting {
    private var nodes: [PropertyListNode] = []
    /// Where each object of the archive stands among the nodes.
    private var objects: [Int] = []
    private var names: [String: Int] = [:]
    private var references: [Int: Int] = [:]
    private var classes: [String: Int] = [:]
    private var nameNodes: [String: Int] = [:]

    /// The reference of "nothing".
    static let null = 0

    init() { _ = plain(.string("$null")) }

    // MARK: Objects

    /// A value as an object of its own. Equal values are not shared: texts that are equal to Swift
    /// may have different bytes.
    mutating func plain(_ node: PropertyListNode) -> Int {
        objects.append(append(node))
        return objects.count - 1
    }

    /// A name, shared by all who use it.
    mutating func name(_ text: String) -> Int {
        if let known = names[text] { return known }
        let made = plain(.string(text))
        names[text] = made
        return made
    }

    mutating func array(_ members: [Int]) -> Int {
        object("NSArray", [("NS.objects", list(members))])
    }

    mutating func dictionary(_ entries: [(key: String, value: Int)]) -> Int {
        let keys = list(entries.map { name($0.key) })
        return object(
            "NSDictionary", [("NS.keys", keys), ("NS.objects", list(entries.map(\.value)))])
    }

    mutating func date(_ seconds: Double) -> Int {
        object("NSDate", [("NS.time", append(.real(seconds)))])
    }

    /// A value of a property list; nil where it is none, or where it nests deeper or has more
    /// members than `ArchiveReading` reads.
    mutating func value(_ value: Any) -> Int? {
        var steps = ArchiveReading.metadataValuesMax
        return self.value(value, depth: 0, &steps)
    }

    private mutating func value(_ value: Any, depth: Int, _ steps: inout Int) -> Int? {
        steps -= 1
        guard depth < ArchiveReading.depthMax, steps >= 0 else { return nil }
        switch value {
        case let text as String: return plain(.string(text))
        case let data as Data: return plain(.data(data))
        case let date as Date: return self.date(date.timeIntervalSinceReferenceDate)
        case let number as Int: return plain(.integer(Int64(number)))
        case let flag as Bool where type(of: value) == Bool.self: return plain(.bool(flag))
        case let number as Double: return plain(.real(number))
        case let members as [Any]:
            var references: [Int] = []
            for member in members {
                guard let reference = self.value(member, depth: depth + 1, &steps) else {
                    return nil
                }
                references.append(reference)
            }
            return array(references)
        case let members as [String: Any]:
            var entries: [(String, Int)] = []
            for (key, member) in members.sorted(by: { $0.key < $1.key }) {
                guard let reference = self.value(member, depth: depth + 1, &steps) else {
                    return nil
                }
                entries.append((key, reference))
            }
            return dictionary(entries)
        default: return nil
        }
    }

    private mutating func object(_ className: String, _ fields: [(String, Int)]) -> Int {
        let described = reference(to: classReference(className))
        return plain(node(fields + [("$class", described)]))
    }

    private mutating func classReference(_ name: String) -> Int {
        if let known = classes[name] { return known }
        let ancestry = append(
            .array([nameNode(name), nameNode("NSObject")]))
        let made = plain(node([("$classname", nameNode(name)), ("$classes", ancestry)]))
        classes[name] = made
        return made
    }

    // MARK: Nodes

    private mutating func append(_ node: PropertyListNode) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    private mutating func nameNode(_ text: String) -> Int {
        if let known = nameNodes[text] { return known }
        let made = append(.string(text))
        nameNodes[text] = made
        return made
    }

    private mutating func reference(to object: Int) -> Int {
        if let known = references[object] { return known }
        let made = append(.uid(object))
        references[object] = made
        return made
    }

    private mutating func list(_ members: [Int]) -> Int {
        let places = members.map { reference(to: $0) }
        return append(.array(places))
    }

    private mutating func node(_ fields: [(String, Int)]) -> PropertyListNode {
        .dictionary(
            fields.map { field in
                PropertyListNode.Pair(key: nameNode(field.0), value: field.1)
            })
    }

    // MARK: Writing

    /// The archive whose root is the object `root`. Throws `.unsupported` for one that no reader
    /// with these limits reads.
    mutating func data(
        root: Int, limits: PropertyListReader.Limits = ArchiveReading.limits
    ) throws -> Data {
        let rootNode = node([("root", reference(to: root))])
        let top = append(rootNode)
        let list = append(.array(objects))
        let version = append(.integer(100_000))
        let archiver = nameNode("NSKeyedArchiver")
        let all = node([
            ("$version", version), ("$archiver", archiver), ("$top", top), ("$objects", list),
        ])
        let place = append(all)
        let linkCount = nodes.reduce(0) { $0 + $1.referenceCount }
        guard nodes.count <= limits.objects, linkCount <= limits.references else {
            throw StoreError(
                .unsupported,
                "The store would have more values than a binary store holds; use a SQLite store.",
                fields: ["values": "\(nodes.count)"])
        }
        return PropertyListWriter.data(PropertyListTable(nodes: nodes, root: place))
    }
}

extension PropertyListNode {
    /// How many others it names.
    fileprivate var referenceCount: Int {
        switch self {
        case .array(let members): members.count
        case .dictionary(let pairs): 2 * pairs.count
        case .null, .bool, .integer, .real, .date, .data, .string, .uid: 0
        }
    }
}
