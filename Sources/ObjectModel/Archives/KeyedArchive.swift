internal import Foundation

/// The objects of a keyed archive, as NSKeyedArchiver writes it. Nothing is instantiated by name:
/// readers ask for the fields of objects whose class they expect.
struct KeyedArchive {
    let file: String
    private let table: PropertyListTable
    private let objects: [Int]
    private let rootReference: Int
    private let budget = Budget()

    /// Opens the archive in `data`; `file` is its name in errors.
    init(_ data: Data, file: String) throws {
        self.file = file
        table = try PropertyListReader.table(data, file: file)
        let fields = table.fields(table.root) ?? [:]
        guard let list = fields["$objects"], case .array(let objects) = table.node(list),
            let top = fields["$top"].flatMap(table.fields), let root = top["root"],
            case .uid(let reference) = table.node(root)
        else {
            throw ModelFileError(
                .notAModel, file: file,
                "the property list is no keyed archive; expected $objects and $top with a root")
        }
        self.objects = objects
        rootReference = reference
    }

    /// Counts one step into nested values. False when an archive asks for more steps than any real
    /// one: values that hold each other many times over would otherwise unfold without end.
    func takeStep() -> Bool {
        budget.steps -= 1
        return budget.steps >= 0
    }

    /// Throws where reading went on until nothing more was handed out.
    func checkBudget() throws {
        guard budget.fields >= 0 else { throw broken("its objects unfold without end") }
    }

    private final class Budget {
        var steps = 250_000
        /// How many fields may be looked at: a large object that stands in many places would
        /// otherwise be read as often as it is named. The largest model seen needs 50,000.
        var fields = 5_000_000
    }

    func root() throws -> ArchivedObject {
        if let root = object(rootReference) { return root }
        throw broken("its root is no object")
    }

    /// The object a reference leads to; nil for `$null` and for plain values.
    func object(_ reference: Int) -> ArchivedObject? {
        guard budget.fields >= 0, objects.indices.contains(reference),
            let fields = fields(of: reference),
            let place = fields["$class"], case .uid(let description) = table.node(place),
            objects.indices.contains(description),
            let name = self.fields(of: description)?["$classname"],
            case .string(let className) = table.node(name)
        else { return nil }
        return ArchivedObject(
            archive: self, reference: reference, className: className, fields: fields)
    }

    private func fields(of reference: Int) -> [String: Int]? {
        let fields = table.fields(objects[reference])
        budget.fields -= fields?.count ?? 0
        return fields
    }

    /// What stands at a place of the table, with a reference followed to what it leads to.
    func value(_ place: Int) -> ArchivedValue? {
        switch table.node(place) {
        case .uid(let reference): followed(reference)
        case .some(let node): plain(node)
        case nil: nil
        }
    }

    /// The members of a plain array in an object's fields.
    func members(_ place: Int) -> [ArchivedValue?] {
        guard case .array(let members) = table.node(place) else { return [] }
        budget.fields -= members.count
        guard budget.fields >= 0 else { return [] }
        return members.map { (member: Int) in value(member) }
    }

    private func followed(_ reference: Int) -> ArchivedValue? {
        guard reference != 0, objects.indices.contains(reference) else { return nil }
        if let object = object(reference) {
            if object.className == "NSString" || object.className == "NSMutableString" {
                return text(of: object)
            }
            return .object(object)
        }
        return table.node(objects[reference]).flatMap(plain)
    }

    /// The text that a string object holds: nothing but a plain one, since an object in its place
    /// could be the string itself.
    private func text(of string: ArchivedObject) -> ArchivedValue? {
        switch string.fields["NS.string"].flatMap(table.node) {
        case .uid(let reference) where objects.indices.contains(reference):
            table.node(objects[reference]).flatMap(plain)
        case .some(let node): plain(node)
        case nil: nil
        }
    }

    private func plain(_ node: PropertyListNode) -> ArchivedValue? {
        switch node {
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .date(let value): .date(value)
        case .data(let value): .data(value)
        case .string(let value): .string(value)
        case .null, .uid, .array, .dictionary: nil
        }
    }

    func broken(_ what: String) -> ModelFileError {
        ModelFileError(
            .malformed, file: file,
            "the archive is damaged: \(what); expected an archived NSManagedObjectModel")
    }
}

/// A field's value, with references followed one step. Absent and `$null` values are nil.
enum ArchivedValue {
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case date(Double)
    case data(Data)
    case string(String)
    case object(ArchivedObject)

    var string: String? { if case .string(let value) = self { value } else { nil } }
    var object: ArchivedObject? { if case .object(let value) = self { value } else { nil } }
    var data: Data? { if case .data(let value) = self { value } else { nil } }

    var integer: Int64? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        case .date, .data, .string, .object: nil
        }
    }

    var real: Double? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let value): Double(value)
        case .real(let value), .date(let value): value
        case .data, .string, .object: nil
        }
    }
}

/// One object of a keyed archive: its class's name and its fields.
struct ArchivedObject {
    let archive: KeyedArchive
    /// The object's place in the archive, equal for all references to it.
    let reference: Int
    let className: String
    let fields: [String: Int]

    subscript(_ key: String) -> ArchivedValue? { fields[key].flatMap(archive.value) }

    func string(_ key: String) -> String? { self[key]?.string }
    func object(_ key: String) -> ArchivedObject? { self[key]?.object }
    func flag(_ key: String) -> Bool { self[key]?.integer == 1 }

    func integer(_ key: String) -> Int { self[key]?.integer.map { Int($0) } ?? 0 }

    /// The members of an archived array or set in a field; empty when there is none.
    func list(_ key: String) -> [ArchivedValue?] { object(key)?.members ?? [] }

    /// The members, where this is an archived array, set or ordered set.
    var members: [ArchivedValue?] { fields["NS.objects"].map(archive.members) ?? [] }

    /// The entries, where this is an archived dictionary of any of the classes in use.
    var entries: [(key: ArchivedValue, value: ArchivedValue)] {
        let keys: [ArchivedValue?]
        let values: [ArchivedValue?]
        if className == "NSKnownKeysDictionary1" {
            keys = object("searchMapping")?.list("keys") ?? []
            values = list("values")
        } else {
            keys = fields["NS.keys"].map(archive.members) ?? []
            values = members
        }
        return zip(keys, values).compactMap { key, value in
            key.flatMap { key in value.map { (key, $0) } }
        }
    }
}
