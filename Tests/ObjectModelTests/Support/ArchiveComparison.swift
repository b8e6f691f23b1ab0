/// The differences between an archive of Apple's and ours of the same model.
struct ArchiveComparison {
    /// One field that differs: whose it is, and what stands there.
    struct Difference: Hashable, Comparable, CustomStringConvertible {
        var place: String
        var theirs: String
        var ours: String

        var description: String { "\(place): \(theirs) → \(ours)" }

        static func < (left: Self, right: Self) -> Bool { left.description < right.description }
    }

    private let theirs: ArchiveGraph
    private let ours: ArchiveGraph
    private var seen: Set<[Int]> = []
    /// How many fields were compared, and how often each difference occurs.
    private(set) var compared = 0
    private(set) var differences: [Difference: Int] = [:]

    init(_ theirs: ArchiveGraph, _ ours: ArchiveGraph) {
        self.theirs = theirs
        self.ours = ours
        compare(objects: theirs.root, ours.root, at: "root")
    }

    // MARK: Objects

    private mutating func compare(objects their: Int, _ our: Int, at place: String) {
        guard seen.insert([their, our]).inserted else { return }
        let (left, right) = (theirs.ancestry(their), ours.ancestry(our))
        if left != right {
            let isSame = left.first == right.first
            note(
                place, isSame ? left.description : left.first ?? "",
                isSame ? right.description : right.first ?? "")
        }
        // What stands for an inherited property has no fields in common with a copy of it.
        if left.first == "_NSPropertyDescriptionProxy" { return }
        if compareCollections(their, our, at: place) { return }
        let name = left.first ?? "?"
        let (fields, own) = (theirs.fields(their), ours.fields(our))
        for key in Set(fields.keys).union(own.keys).sorted() {
            compare(fields[key], own[key], at: "\(name).\(key)")
        }
    }

    /// Whether both are collections; those are compared member by member, whatever their class.
    private mutating func compareCollections(_ their: Int, _ our: Int, at place: String) -> Bool {
        if let left = theirs.entries(their), let right = ours.entries(our) {
            for key in Set(left.keys).union(right.keys).sorted() {
                compare(left[key], right[key], at: place + " entry")
            }
            return true
        }
        guard var left = theirs.members(their), var right = ours.members(our) else { return false }
        let isSet = [theirs.ancestry(their), ours.ancestry(our)].contains { $0.contains("NSSet") }
        if isSet {
            left.sort { theirs.text(theirs.value($0)) < theirs.text(theirs.value($1)) }
            right.sort { ours.text(ours.value($0)) < ours.text(ours.value($1)) }
        }
        if left.count != right.count {
            note(place, "\(Self.size(left.count))", "\(Self.size(right.count))")
        }
        for (one, other) in zip(left, right) { compare(one, other, at: place + " member") }
        return true
    }

    // MARK: Values

    private mutating func compare(_ their: Int?, _ our: Int?, at place: String) {
        compared += 1
        guard let their, let our else {
            return note(
                place, their.map { describe(theirs, theirs.value($0)) } ?? "absent",
                our.map { describe(ours, ours.value($0)) } ?? "absent")
        }
        switch (theirs.value(their), ours.value(our)) {
        case (.nothing, .nothing): break
        case (.plain(let left), .plain(let right)) where left == right: break
        case (.object(let left), .object(let right)):
            compare(objects: left, right, at: place)
        case (.list(let left), .list(let right)) where left.count == right.count:
            for (one, other) in zip(left, right) { compare(one, other, at: place + " member") }
        case (let left, let right):
            if case .object(let reference) = left, case .plain(let text) = right,
                theirs.className(of: reference) == "NSMutableString", theirs.text(left) == text
            {
                return note(place, "NSMutableString", "text")
            }
            note(place, describe(theirs, left), describe(ours, right))
        }
    }

    private func describe(_ graph: ArchiveGraph, _ value: ArchiveGraph.Value) -> String {
        switch value {
        case .nothing: return "$null"
        case .plain(let text): return text
        case .list(let members): return Self.size(members.count)
        case .object(let reference):
            let isEmpty = graph.members(reference)?.isEmpty == true
            return (isEmpty ? "empty " : "") + (graph.className(of: reference) ?? "")
        }
    }

    private static func size(_ count: Int) -> String { "\(count) members" }

    private mutating func note(_ place: String, _ theirs: String, _ ours: String) {
        differences[Difference(place: place, theirs: theirs, ours: ours), default: 0] += 1
    }
}
