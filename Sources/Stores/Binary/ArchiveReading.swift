internal import Foundation
internal import ObjectModel

/// The objects of a keyed archive of plain values, arrays and dictionaries. Any other class is
/// refused; nothing is made by name.
struct ArchiveReading {
    /// An object with references to its members.
    enum Value {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        case data(Data)
        case date(Double)
        case array([Int])
        case dictionary([String: Int])
    }

    let path: String
    let root: Int
    private let table: PropertyListTable
    private let objects: [Int]
    private let budget: Budget

    /// More than a file of `GraphFile.bytesMax` can have: an object takes two bytes at the least
    /// and a place in two tables, a reference four where there are so many.
    static let limits = PropertyListReader.Limits(
        bytes: 1 << 30, objects: 128_000_000, references: 1 << 28)
    /// How deep the values of the metadata may nest, and how many there may be. Writers refuse
    /// more.
    static let depthMax = 32
    static let metadataValuesMax = 100_000

    init(_ data: Data, path: String, limits: PropertyListReader.Limits = Self.limits) throws {
        self.path = path
        guard data.starts(with: Data("bplist0".utf8)) else {
            throw StoreError(
                .notAStore, "The file is no binary store.", fields: ["path": path])
        }
        do {
            table = try PropertyListReader.table(data, file: path, limits: limits)
        } catch {
            throw StoreError(
                .corrupt, "The binary store is damaged; restore it from a copy.",
                fields: ["path": path], cause: error)
        }
        guard let all = table.fields(table.root), let list = all["$objects"],
            case .array(let objects) = table.node(list),
            let top = all["$top"].flatMap(table.fields), let place = top["root"],
            case .uid(let root) = table.node(place)
        else {
            throw StoreError(
                .notAStore, "The file is a property list, yet no binary store.",
                fields: ["path": path])
        }
        self.objects = objects
        self.root = root
        budget = Budget(entries: 100_000 + Self.entriesFactor * table.references)
    }

    /// How many members may be looked at. One large collection that stands in many places would
    /// otherwise be read as often as it is named.
    private final class Budget {
        var entries: Int
        init(entries: Int) { self.entries = entries }
    }

    /// Far more than a store's objects need, each of which is looked at a few times.
    private static let entriesFactor = 16

    private func spend(_ entries: Int) throws {
        budget.entries -= entries
        guard budget.entries >= 0 else { throw broken("its collections unfold without end") }
    }

    /// What stands at a reference. Throws for classes that no store holds.
    func value(_ reference: Int) throws -> Value {
        guard reference != 0 else { return .null }
        guard objects.indices.contains(reference), let node = table.node(objects[reference]) else {
            throw broken("a reference leads nowhere")
        }
        switch node {
        case .bool(let flag): return .bool(flag)
        case .integer(let integer): return .integer(integer)
        case .real(let real): return .real(real)
        case .string(let text): return .string(text)
        case .data(let data): return .data(data)
        case .date(let seconds): return .date(seconds)
        case .dictionary: return try object(table.fields(objects[reference]) ?? [:])
        case .null, .uid, .array: throw broken("an object is of no kind that stores hold")
        }
    }

    private func object(_ fields: [String: Int]) throws -> Value {
        try spend(fields.count)
        switch try className(fields) {
        case "NSArray", "NSMutableArray": return .array(try references(fields["NS.objects"]))
        case "NSDictionary", "NSMutableDictionary":
            let keys = try references(fields["NS.keys"])
            let values = try references(fields["NS.objects"])
            guard keys.count == values.count else { throw broken("a dictionary lacks values") }
            var entries: [String: Int] = [:]
            for (key, value) in zip(keys, values) {
                // Looked at directly: a dictionary could be a key of itself.
                guard objects.indices.contains(key),
                    case .string(let name) = table.node(objects[key])
                else { throw broken("a dictionary's key is no text") }
                entries[name] = value
            }
            return .dictionary(entries)
        case "NSDate":
            guard let place = fields["NS.time"], case .real(let seconds) = table.node(place) else {
                throw broken("a date has no time")
            }
            return .date(seconds)
        case let name: throw broken("it holds an object of the class \(name.prefix(80))")
        }
    }

    private func className(_ fields: [String: Int]) throws -> String {
        guard let place = fields["$class"], case .uid(let reference) = table.node(place),
            objects.indices.contains(reference),
            let name = table.fields(objects[reference])?["$classname"],
            case .string(let text) = table.node(name)
        else { throw broken("an object has no class") }
        return text
    }

    private func references(_ place: Int?) throws -> [Int] {
        guard let place, case .array(let members) = table.node(place) else {
            throw broken("a collection has no members")
        }
        try spend(members.count)
        return try members.map { member in
            guard case .uid(let reference) = table.node(member) else {
                throw broken("a collection's member is no reference")
            }
            return reference
        }
    }

    /// A whole value of a property list, such as the metadata.
    func unfolded(_ reference: Int) throws -> Any {
        var steps = Self.metadataValuesMax
        return try unfolded(reference, depth: 0, &steps)
    }

    private func unfolded(_ reference: Int, depth: Int, _ steps: inout Int) throws -> Any {
        steps -= 1
        guard depth < Self.depthMax, steps >= 0 else { throw broken("its values nest too deep") }
        switch try value(reference) {
        case .null: throw broken("a value is missing")
        case .bool(let flag): return flag
        case .integer(let integer): return Int(integer)
        case .real(let real): return real
        case .string(let text): return text
        case .data(let data): return data
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .array(let members):
            return try members.map { try unfolded($0, depth: depth + 1, &steps) }
        case .dictionary(let members):
            return try members.mapValues { try unfolded($0, depth: depth + 1, &steps) }
        }
    }

    func broken(_ what: String) -> StoreError {
        StoreError(
            .corrupt, "The binary store is damaged: \(what); restore it from a copy.",
            fields: ["path": path])
    }
}

// MARK: - Members of an expected kind

extension ArchiveReading {
    func dictionary(_ reference: Int?) throws -> [String: Int] {
        guard let reference, case .dictionary(let entries) = try value(reference) else {
            throw broken("a dictionary is missing")
        }
        return entries
    }

    func array(_ reference: Int?) throws -> [Int] {
        guard let reference, case .array(let members) = try value(reference) else {
            throw broken("a list is missing")
        }
        return members
    }

    func string(_ reference: Int?) throws -> String {
        guard let reference, case .string(let text) = try value(reference) else {
            throw broken("a text is missing")
        }
        return text
    }

    func integer(_ reference: Int?) throws -> Int64 {
        guard let reference, case .integer(let number) = try value(reference) else {
            throw broken("a number is missing")
        }
        return number
    }
}
