import Foundation
import ObjectModel
import Persistence
import SQLiteDriver
import SQLiteStore
import Stores
import Testing

/// Every object of every real store through contexts, against plain SQL.
@Suite(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
struct ReadingTests {
    @Test func everyObjectReadsAsPlainSQLSays() throws {
        var table = ReadTable()
        for store in Corpus.stores {
            do { try read(store, &table) } catch { table.fail(store, error) }
        }
        print(table.text)
        #expect(table.failures == [])
        #expect(table.lines.count >= Corpus.stores.count)
    }

    private func read(_ store: RealStore, _ table: inout ReadTable) throws {
        let scratch = try Scratch()
        let url = try store.copy(to: scratch)
        let models = try store.knownModels(copy: url)
        if models.isEmpty {
            // Only the frameworks of the first years kept no model of a store.
            let facts = try SQLiteRowStore.metadata(at: url)
            let version = facts["NSPersistenceFrameworkVersion"] as? Int
            #expect(version.map { $0 <= 519 } ?? (facts.count == 1), "\(store)")
            table.add(store, "none", nil)
        }
        for (number, (origin, model)) in models.enumerated() {
            let copy = try store.copy(to: scratch, as: "copy\(number).sqlite")
            var comparison = try StoreComparison(OpenedStore(copy, model))
            try comparison.run()
            table.add(store, origin, comparison)
        }
    }
}

/// What was read of each store.
struct ReadTable {
    private(set) var lines: [String] = []
    private(set) var failures: [String] = []
    private var totals = (stores: 0, entities: 0, objects: 0, values: 0, links: 0)

    mutating func add(_ store: RealStore, _ origin: String, _ comparison: StoreComparison?) {
        guard let comparison else {
            lines.append("\(store) · – · – · no model known (before FW 637, no source)")
            return
        }
        let result =
            comparison.failures.isEmpty
            ? "\(comparison.values) values and \(comparison.links) links equal"
            : "\(comparison.failures.count) DIFFER"
        lines.append(
            "\(store) (\(origin)) · \(comparison.entities) · \(comparison.objects) · \(result)")
        failures += comparison.failures.prefix(5).map { "\(store): \($0)" }
        totals.stores += 1
        totals.entities += comparison.entities
        totals.objects += comparison.objects
        totals.values += comparison.values
        totals.links += comparison.links
    }

    mutating func fail(_ store: RealStore, _ error: any Error) {
        lines.append("\(store) · – · – · REFUSED: \(error)")
        failures.append("\(store): \((error as NSError).userInfo) \(error)")
    }

    var text: String {
        """
        store · entities · objects · result
        \(lines.joined(separator: "\n"))
        \(totals.stores) openings · \(totals.entities) · \(totals.objects) · \(totals.values) \
        values, \(totals.links) links, \(failures.isEmpty ? "all equal" : "SOME DIFFER")
        """
    }
}

/// Compares what objects say with what plain SQL says of the same file.
struct StoreComparison {
    private let opened: OpenedStore
    private let plain: Connection
    private let schema: StoreSchema
    private(set) var entities = 0
    private(set) var objects = 0
    private(set) var values = 0
    private(set) var links = 0
    private(set) var failures: [String] = []

    init(_ opened: OpenedStore) throws {
        self.opened = opened
        plain = try Connection(path: try #require(opened.store.url).path, access: .readOnly)
        schema = try opened.rows.read { $0.schema }
    }

    mutating func run() throws {
        for layout in schema.layout.entities {
            entities += 1
            let found = try opened.objects(layout.name)
            objects += found.count
            try compareAttributes(found, layout)
            try compareToOnes(found, layout)
            try compareToManys(found, layout)
        }
        let tables = Set(schema.layout.entities.compactMap { schema.columns(of: $0.number)?.table })
        let stored = try tables.reduce(0) {
            $0 + (try plain.value("SELECT count(*) FROM \($1)")?.int64 ?? 0)
        }
        let read = Int64(objects)
        check(stored == read, "\(stored) rows, \(read) objects")
    }

    private mutating func check(_ isRight: Bool, _ what: @autoclosure () -> String) {
        if !isRight { failures.append(what()) }
    }

    /// The rows of an entity by key, from plain SQL.
    private func rows(_ layout: EntityLayout, _ columns: [String]) throws -> [Int64: [SQLiteValue]]
    {
        guard let place = schema.columns(of: layout.number), !columns.isEmpty else { return [:] }
        let shares = schema.layout.entities.contains {
            $0 !== layout && schema.columns(of: $0.number)?.table == place.table
        }
        let rows = try plain.rows(
            "SELECT Z_PK, \(columns.joined(separator: ", ")) FROM \(place.table)"
                + (shares ? " WHERE Z_ENT = \(layout.number)" : ""))
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].int64 ?? 0, $0) })
    }

    private mutating func compareAttributes(
        _ found: [NSManagedObject], _ layout: EntityLayout
    ) throws {
        let columns = schema.columns(of: layout.number)?.attributes ?? []
        let stored = try rows(layout, columns.map(\.name))
        for object in found {
            for (slot, attribute) in layout.attributes.enumerated() {
                let cell = stored[object.key]?[1 + slot] ?? .null
                let value = Self.value(of: attribute.name, in: object)
                values += 1
                check(
                    Agreement.holds(value, cell, attribute.attribute),
                    "\(layout.name) \(object.key) \(attribute.name): \(String(describing: value)) "
                        + "is not \(cell)")
            }
        }
    }

    /// A composite's elements stand in its dictionary.
    private static func value(of name: String, in object: NSManagedObject) -> Any? {
        let parts = name.split(separator: ".").map(String.init)
        guard parts.count > 1 else { return object.value(forKey: name) }
        let elements = object.value(forKey: parts[0]) as? [String: Any]
        return elements?[parts.dropFirst().joined(separator: ".")]
    }

    private mutating func compareToOnes(_ found: [NSManagedObject], _ layout: EntityLayout) throws {
        let columns = schema.columns(of: layout.number)?.toOnes ?? []
        let stored = try rows(layout, columns.map(\.key))
        for object in found {
            for (slot, relationship) in layout.toOnes.enumerated() {
                let cell = stored[object.key]?[1 + slot] ?? .null
                let target = object.value(forKey: relationship.name) as? NSManagedObject
                links += 1
                check(
                    target.map { .integer($0.key) } ?? .null == cell,
                    "\(layout.name) \(object.key) \(relationship.name)")
                guard let target, let inverse = relationship.inverseRelationship,
                    try exists(target)
                else { continue }
                check(
                    inverse.isToMany
                        ? target.members(inverse).contains(object)
                        : try isOnlyEnd(object, relationship, columns[slot], of: target)
                            == (target.value(forKey: inverse.name) as? NSManagedObject == object),
                    "\(layout.name) \(object.key) \(relationship.name) back")
            }
        }
    }

    /// Whether both ends of a one-to-one name each other; real files have some that do not.
    private func isOnlyEnd(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription,
        _ link: LinkColumns, of target: NSManagedObject
    ) throws -> Bool {
        guard let row = target.objectID.rowID, let inverse = relationship.inverseRelationship,
            let layout = schema.layout.entity(row.entity),
            let slot = layout.toOneSlot(inverse.name),
            let columns = schema.columns(of: row.entity)
        else { return false }
        let cell = try plain.value(
            "SELECT \(columns.toOnes[slot].key) FROM \(columns.table) WHERE Z_PK = ?",
            [.integer(row.key)])
        return cell?.int64 == object.key
    }

    /// Some files have links to rows that are gone.
    private func exists(_ object: NSManagedObject) throws -> Bool {
        guard let row = object.objectID.rowID else { return false }
        return try opened.rows.row(row) != nil
    }

    private mutating func compareToManys(
        _ found: [NSManagedObject], _ layout: EntityLayout
    ) throws {
        guard let places = schema.columns(of: layout.number)?.toManys else { return }
        for (slot, relationship) in layout.toManys.enumerated() {
            guard let query = Self.query(for: places[slot]) else { continue }
            for object in found {
                let keys = try plain.rows(query, [.integer(object.key)]).compactMap { $0[0].int64 }
                let objects = object.members(relationship)
                links += objects.count
                let read = objects.map(\.key)
                check(
                    relationship.isOrdered ? read == keys : read.sorted() == keys.sorted(),
                    "\(layout.name) \(object.key) \(relationship.name): \(read) is not \(keys)")
                guard let inverse = relationship.inverseRelationship else { continue }
                for member in objects {
                    let isBack =
                        inverse.isToMany
                        ? member.members(inverse).contains(object)
                        : member.value(forKey: inverse.name) as? NSManagedObject == object
                    check(isBack, "\(layout.name) \(object.key) \(relationship.name) back")
                }
            }
        }
    }

    /// The members' keys, in order, by plain SQL; nil where the store holds none.
    private static func query(for place: ToManyPlace) -> String? {
        switch place {
        case .absent: return nil
        case .inverse(let members), .owned(let members):
            let order = members.order.map { "\($0), " } ?? ""
            return
                "SELECT Z_PK FROM \(members.table) WHERE \(members.key) = ? ORDER BY \(order)Z_PK"
        case .join(let side):
            let order = side.order ?? side.member
            let own = "SELECT \(side.member), \(order) AS place FROM \(side.table) WHERE "
            let there = "\(side.member) IN (SELECT Z_PK FROM \(side.destinationTable))"
            guard side.isReflexive else {
                return "\(own)\(side.owner) = ? AND \(there) ORDER BY place, 1"
            }
            return "SELECT Z_PK FROM \(side.destinationTable) WHERE Z_PK IN ("
                + "SELECT \(side.member) FROM \(side.table) WHERE \(side.owner) = ?1 UNION "
                + "SELECT \(side.owner) FROM \(side.table) WHERE \(side.member) = ?1)"
        }
    }
}

/// When a value that a program reads is the value of a cell; written down once more, apart from
/// the store's own coding.
enum Agreement {
    static func holds(
        _ value: Any?, _ cell: SQLiteValue, _ attribute: NSAttributeDescription
    ) -> Bool {
        if case .null = cell { return value == nil }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return (value as? NSNumber)?.int64Value == cell.int64
        case .booleanAttributeType: return (value as? NSNumber)?.boolValue == (cell.int64 != 0)
        case .doubleAttributeType, .floatAttributeType:
            return (value as? NSNumber)?.doubleValue == cell.double
        case .decimalAttributeType:
            if cell.string == "NaN" { return (value as? Decimal)?.isNaN == true }
            return (value as? NSDecimalNumber)?.doubleValue == cell.double
                || (value as? Decimal).flatMap { Double($0.description) } == cell.double
        case .dateAttributeType:
            return (value as? Date)?.timeIntervalSinceReferenceDate == cell.double
        case .stringAttributeType: return value as? String == cell.string
        case .URIAttributeType:
            return (value as? URL)?.absoluteString == cell.string.flatMap(URL.init)?.absoluteString
        case .UUIDAttributeType:
            return (value as? UUID).map { withUnsafeBytes(of: $0.uuid) { Data($0) } } == cell.data
        case .binaryDataAttributeType:
            return bytes(value as? Data, cell.data ?? Data(), attribute)
        case .transformableAttributeType:
            // What no transformer here can read stays in the file, and reads as nil.
            return value != nil || !(cell.data ?? Data()).isEmpty || cell == .blob(Data())
        case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return false
        }
    }

    private static func bytes(
        _ value: Data?, _ cell: Data, _ attribute: NSAttributeDescription
    ) -> Bool {
        guard attribute.allowsExternalBinaryDataStorage else { return value == cell }
        switch cell.first {
        case 1: return value == cell.dropFirst()
        // The files of these values are not in the corpus.
        case 2: return value == nil && cell.count == 38
        default: return value == cell
        }
    }
}
