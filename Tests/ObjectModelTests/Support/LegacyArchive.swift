import Foundation

@testable import ObjectModel

/// Writes keyed archives of the objects that Xcode 3's editor kept.
final class LegacyArchive {
    private var nodes: [PropertyListNode] = [.null]
    /// Places in the table of the archive's objects; the first is `$null`.
    private var objects: [Int] = [0]
    private var texts: [String: Int] = [:]
    private var root = 0

    private func add(_ node: PropertyListNode) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    private func string(_ text: String) -> Int {
        if let known = texts[text] { return known }
        let place = add(.string(text))
        texts[text] = place
        return place
    }

    private func fieldsNode(_ fields: [String: PropertyListNode]) -> PropertyListNode {
        .dictionary(
            fields.sorted { $0.key < $1.key }.map {
                .init(key: string($0.key), value: add($0.value))
            })
    }

    // MARK: Objects

    /// A reference for an object that is put later.
    func reserve() -> Int {
        objects.append(0)
        return objects.count - 1
    }

    private func keep(_ node: PropertyListNode, at reference: Int? = nil) -> PropertyListNode {
        let reference = reference ?? reserve()
        objects[reference] = add(node)
        return .uid(reference)
    }

    func text(_ text: String) -> PropertyListNode { keep(.string(text)) }

    private func described(
        _ className: String, _ fields: [String: PropertyListNode]
    ) -> PropertyListNode {
        var fields = fields
        fields["$class"] = keep(fieldsNode(["$classname": .string(className)]))
        return fieldsNode(fields)
    }

    func list(_ members: [PropertyListNode]) -> PropertyListNode {
        keep(described("NSMutableArray", ["NS.objects": .array(members.map(add))]))
    }

    func dictionary(_ entries: [String: PropertyListNode]) -> PropertyListNode {
        let pairs = entries.sorted { $0.key < $1.key }
        let keys = pairs.map { add(text($0.key)) }
        let values = pairs.map { add($0.value) }
        return keep(
            described(
                "NSMutableDictionary", ["NS.keys": .array(keys), "NS.objects": .array(values)]))
    }

    // MARK: The editor's objects

    /// Puts an object without a name; returns its reference.
    func put(_ className: String, fields: [String: PropertyListNode]) -> Int {
        let place = reserve()
        _ = keep(described(className, fields), at: place)
        return place
    }

    /// Puts an entity or a property with its facts, its buckets of objects and further fields.
    @discardableResult
    func put(
        at reference: Int? = nil, _ className: String, name: String, owner: Int,
        _ facts: [String: PropertyListNode], _ buckets: [String: [String: Int]] = [:],
        fields: [String: PropertyListNode] = [:]
    ) -> Int {
        let place = reference ?? reserve()
        var all = fields
        all["_name"] = text(name)
        all["_owner"] = .uid(owner)
        for (bucket, members) in buckets {
            all["XDBucketFor\(bucket)storage"] = dictionary(members.mapValues { .uid($0) })
        }
        let properties = facts.mapValues { value in
            PropertyListNode.uid(put("XDUMLPropertyImp", fields: ["_default": kept(value)]))
        }
        let stereotype = put(
            "XDUMLStereotypeImp",
            fields: ["XDBucketForOwnedAttributesstorage": dictionary(properties)])
        all["XDBucketForStereotypesstorage"] = dictionary(["XD_Stereotype": .uid(stereotype)])
        _ = keep(described(className, all), at: place)
        return place
    }

    /// The editor kept numbers as objects of their own.
    private func kept(_ value: PropertyListNode) -> PropertyListNode {
        if case .uid = value { return value }
        return keep(value)
    }

    /// Puts the model around the entities.
    func finish(entities: [String: Int], configurations: [String: PropertyListNode] = [:]) {
        let package = put(
            "XDModelPackage",
            fields: ["XDBucketForClassesstorage": dictionary(entities.mapValues { .uid($0) })])
        root = put(
            "XDPMModel",
            fields: [
                "_xd_rootPackage": .uid(package), "_modelVersionIdentifier": text("7"),
                "_configurationsByName": dictionary(configurations),
            ])
    }

    var data: Data {
        var table = PropertyListTable(nodes: nodes, root: 0)
        func add(_ node: PropertyListNode) -> Int {
            table.nodes.append(node)
            return table.nodes.count - 1
        }
        let top = add(.dictionary([.init(key: add(.string("root")), value: add(.uid(root)))]))
        table.root = add(
            .dictionary([
                .init(key: add(.string("$objects")), value: add(.array(objects))),
                .init(key: add(.string("$top")), value: top),
            ]))
        return PropertyListWriter.data(table)
    }
}
