import Foundation

@testable import ObjectModel

/// A keyed archive as a graph of objects, to be compared with another one field by field.
struct ArchiveGraph {
    private let table: PropertyListTable
    private let objects: [Int]
    let root: Int

    init(_ data: Data) throws {
        table = try PropertyListReader.table(data, file: "archive")
        let fields = table.fields(table.root) ?? [:]
        guard case .array(let objects)? = fields["$objects"].flatMap(table.node),
            let top = fields["$top"].flatMap(table.fields)?["root"],
            case .uid(let root)? = table.node(top)
        else { throw CocoaError(.propertyListReadCorrupt) }
        self.objects = objects
        self.root = root
    }

    /// What a place of the table holds, with references followed.
    enum Value {
        case nothing
        case plain(String)
        case list([Int])
        case object(Int)
    }

    func value(_ place: Int) -> Value {
        guard case .uid(let reference)? = table.node(place) else { return plain(place) }
        guard reference != 0, objects.indices.contains(reference) else { return .nothing }
        guard className(of: reference) == nil else { return .object(reference) }
        return plain(objects[reference])
    }

    private func plain(_ place: Int) -> Value {
        switch table.node(place) {
        case .array(let members)?: .list(members)
        case .integer(let value)?: .plain("integer \(value)")
        case .real(let value)?: .plain("real \(value)")
        case .bool(let value)?: .plain("flag \(value)")
        case .string(let value)?: .plain("text \(value)")
        case .data(let value)?: .plain("data \(value.base64EncodedString())")
        case .date(let value)?: .plain("date \(value)")
        case .null?, .uid?, .dictionary?, nil: .nothing
        }
    }

    func fields(_ reference: Int) -> [String: Int] {
        (table.fields(objects[reference]) ?? [:]).filter { $0.key != "$class" }
    }

    /// The object's class and the classes it inherits from.
    func ancestry(_ reference: Int) -> [String] {
        guard let place = table.fields(objects[reference])?["$class"],
            case .uid(let description)? = table.node(place),
            let list = table.fields(objects[description])?["$classes"],
            case .array(let names)? = table.node(list)
        else { return [] }
        return names.compactMap { name in
            if case .string(let text)? = table.node(name) { text } else { nil }
        }
    }

    func className(of reference: Int) -> String? {
        guard let place = table.fields(objects[reference])?["$class"],
            case .uid(let description)? = table.node(place),
            let name = table.fields(objects[description])?["$classname"],
            case .string(let text)? = table.node(name)
        else { return nil }
        return text
    }

    /// The members of an archived list or set.
    func members(_ reference: Int) -> [Int]? {
        guard let place = fields(reference)["NS.objects"],
            case .array(let members)? = table.node(place)
        else { return nil }
        return members
    }

    /// The entries of an archived dictionary by their keys.
    func entries(_ reference: Int) -> [String: Int]? {
        guard let keys = fields(reference)["NS.keys"], case .array(let names)? = table.node(keys),
            let values = members(reference)
        else { return nil }
        let texts = names.map { text(value($0)) }
        return Dictionary(zip(texts, values), uniquingKeysWith: { first, _ in first })
    }

    /// A text, of whichever class; the name of an entity or a property.
    func text(_ value: Value) -> String {
        switch value {
        case .nothing: return ""
        case .plain(let text): return text
        case .list(let members): return members.map { text(self.value($0)) }.description
        case .object(let reference):
            let fields = fields(reference)
            for key in ["NS.string", "NSEntityName", "NSPropertyName"] {
                if let place = fields[key] { return text(self.value(place)) }
            }
            return className(of: reference) ?? ""
        }
    }
}
