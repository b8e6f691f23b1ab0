package import Foundation

/// Collects objects for a keyed archive and writes it as NSKeyedArchiver does.
package struct KeyedArchiveBuilder {
    /// A field of an archived object.
    package enum Field {
        case bool(Bool)
        case integer(Int)
        case real(Double)
        case data(Data)
        /// A reference to another object.
        case reference(Int)
        case references([Int])
        /// A text in place, without an object of its own.
        case text(String)
    }

    private struct Member {
        var fields: [(key: String, value: Field)] = []
        var plain: PropertyListNode?
    }

    private var members = [Member(plain: .string("$null"))]
    private var strings: [LiteralText: Int] = [:]
    private var classes: [String: Int] = [:]
    private var singles: [String: Int] = [:]
    /// The reference of "no object".
    package static let null = 0

    package init() {}

    // MARK: Objects

    /// Makes room for an object whose fields come later, so that objects may refer to each other.
    mutating func reserve() -> Int {
        members.append(Member())
        return members.count - 1
    }

    /// Gives a reserved object its class, named with its ancestors, and its fields.
    mutating func fill(_ reference: Int, _ ancestry: [String], _ fields: [(String, Field)]) {
        members[reference].fields =
            fields.map { (key: $0.0, value: $0.1) } + [
                ("$class", .reference(classReference(ancestry)))
            ]
    }

    package mutating func object(_ ancestry: [String], _ fields: [(String, Field)]) -> Int {
        let reference = reserve()
        fill(reference, ancestry, fields)
        return reference
    }

    /// A text; equal texts share one object. Nil is the absence of an object.
    package mutating func string(_ text: String?) -> Int {
        guard let text else { return Self.null }
        if let known = strings[LiteralText(text)] { return known }
        members.append(Member(plain: .string(text)))
        strings[LiteralText(text)] = members.count - 1
        return members.count - 1
    }

    /// A number, flag or data as an object of its own.
    package mutating func plain(_ node: PropertyListNode) -> Int {
        members.append(Member(plain: node))
        return members.count - 1
    }

    package mutating func array(_ references: [Int]) -> Int {
        object(["NSArray", "NSObject"], [("NS.objects", .references(references))])
    }

    mutating func set(_ references: [Int]) -> Int {
        object(["NSSet", "NSObject"], [("NS.objects", .references(references))])
    }

    mutating func mutableArray(_ references: [Int]) -> Int {
        object(
            ["NSMutableArray", "NSArray", "NSObject"], [("NS.objects", .references(references))])
    }

    mutating func mutableDictionary(_ entries: [(key: String, value: Int)]) -> Int {
        dictionary(entries, ["NSMutableDictionary", "NSDictionary", "NSObject"])
    }

    mutating func dictionary(_ entries: [(key: String, value: Int)]) -> Int {
        guard entries.isEmpty else { return dictionary(entries, ["NSDictionary", "NSObject"]) }
        return shared("empty") { $0.dictionary([], ["NSDictionary", "NSObject"]) }
    }

    private mutating func dictionary(
        _ entries: [(key: String, value: Int)], _ ancestry: [String]
    ) -> Int {
        let keys = entries.map { string($0.key) }
        return object(
            ancestry,
            [("NS.keys", .references(keys)), ("NS.objects", .references(entries.map(\.value)))])
    }

    /// An object of which an archive has one: made at the first call, named by `key`.
    mutating func shared(_ key: String, _ make: (inout Self) -> Int) -> Int {
        if let known = singles[key] { return known }
        let reference = make(&self)
        singles[key] = reference
        return reference
    }

    /// Keeps what `add` adds, or nothing of it where it returns nil.
    package mutating func trying(_ add: (inout Self) -> Int?) -> Int? {
        var trial = self
        guard let reference = add(&trial) else { return nil }
        self = trial
        return reference
    }

    private mutating func classReference(_ ancestry: [String]) -> Int {
        let name = ancestry.first ?? "NSObject"
        if let known = classes[name] { return known }
        members.append(Member())
        let reference = members.count - 1
        classes[name] = reference
        classLists[reference] = ancestry
        return reference
    }

    private var classLists: [Int: [String]] = [:]

    // MARK: Writing

    /// The archive whose root is the object at `root`.
    func data(root: Int) -> Data {
        var table = TableBuilder()
        let objects = members.indices.map { place in
            let member = members[place]
            if let plain = member.plain { return table.add(plain) }
            if let ancestry = classLists[place] {
                let list = PropertyListNode.array(ancestry.map { table.add(.string($0)) })
                return table.dictionary([
                    ("$classname", table.add(.string(ancestry.first ?? ""))),
                    ("$classes", table.append(list)),
                ])
            }
            return table.dictionary(member.fields.map { ($0.key, table.add(field: $0.value)) })
        }
        let top = table.dictionary([("root", table.add(.uid(root)))])
        let root = table.dictionary([
            ("$version", table.add(.integer(100_000))),
            ("$archiver", table.add(.string("NSKeyedArchiver"))),
            ("$top", top), ("$objects", table.append(.array(objects))),
        ])
        return PropertyListWriter.data(PropertyListTable(nodes: table.nodes, root: root))
    }
}

/// Lays nodes out in a table; equal plain values share a place.
private struct TableBuilder {
    private(set) var nodes: [PropertyListNode] = []
    private var places: [PropertyListNode: Int] = [:]

    mutating func append(_ node: PropertyListNode) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    mutating func add(_ node: PropertyListNode) -> Int {
        if let known = places[node] { return known }
        let place = append(node)
        places[node] = place
        return place
    }

    mutating func add(field: KeyedArchiveBuilder.Field) -> Int {
        switch field {
        case .bool(let value): return add(.bool(value))
        case .integer(let value): return add(.integer(Int64(value)))
        case .real(let value): return add(.real(value))
        case .data(let value): return add(.data(value))
        case .text(let value): return add(.string(value))
        case .reference(let reference): return add(.uid(reference))
        case .references(let references):
            let members = references.map { add(.uid($0)) }
            return append(.array(members))
        }
    }

    mutating func dictionary(_ entries: [(String, Int)]) -> Int {
        let pairs = entries.map { entry in
            PropertyListNode.Pair(key: add(.string(entry.0)), value: entry.1)
        }
        return append(.dictionary(pairs))
    }
}
