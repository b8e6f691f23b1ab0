internal import Foundation
internal import Platform
package import RecordWire
internal import SQLiteDriver

/// A deleted object of which something lost against the deletion: whole, as long as a line of the
/// log speaks of it.
package struct Grave: Sendable {
    /// What led from or to the object besides its own to-ones.
    package struct Link: Hashable, Sendable {
        package enum Kind: String, Sendable {
            /// The other is a member of the object's to-many.
            case member
            /// The object is a member of the other's to-many, which has no inverse.
            case owner
            /// The other's to-one points at the object.
            case referrer
        }
        package var kind: Kind
        package var property: String
        package var recordName: String
        package var orderKey: Int64?
    }

    /// The object as the losing side had it.
    package var record: Record
    package var links: [Link]
    /// Whether the losing side is this device.
    package var isLocal: Bool
}

extension Ledger {
    package func keep(_ grave: Grave) throws {
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHGRAVE (ZRECORDNAME, ZISLOCAL, ZRECORD, ZLINKS) "
                + "VALUES (?, ?, ?, ?)",
            [
                .text(grave.record.recordName), SQLiteValue(grave.isLocal),
                .blob(RecordArchive.encode(grave.record)),
                .blob(RecordArchive.encode(Self.record(of: grave.links))),
            ])
    }

    package func grave(of name: String) throws -> Grave? {
        let row = try connection.rows(
            "SELECT ZISLOCAL, ZRECORD, ZLINKS FROM ADIPTYCHGRAVE WHERE ZRECORDNAME = ?",
            [.text(name)]
        ).first
        guard let row, let record = row[1].data, let links = row[2].data else { return nil }
        return Grave(
            record: try Self.decode(record), links: Self.links(of: try Self.decode(links)),
            isLocal: row[0] == 1)
    }

    package func dropGrave(of name: String) throws {
        try connection.run("DELETE FROM ADIPTYCHGRAVE WHERE ZRECORDNAME = ?", [.text(name)])
    }

    /// Graves go with the last line that speaks of them.
    func dropUnloggedGraves() throws {
        try connection.run(
            "DELETE FROM ADIPTYCHGRAVE WHERE NOT EXISTS (SELECT 1 FROM ADIPTYCHCONFLICT c "
                + "WHERE c.ZRECORDNAME = ADIPTYCHGRAVE.ZRECORDNAME)")
    }

    /// The lines of an object that was restored are of the new one, and say so.
    func moveLines(ofRestored name: String, to other: String, isLocal: Bool, rules: [String]) throws
    {
        let places = rules.map { _ in "?" }.joined(separator: ", ")
        try connection.run(
            "UPDATE ADIPTYCHCONFLICT SET ZWINNER = ?, ZRULE = ? WHERE ZRECORDNAME = ? "
                + "AND ZRULE IN (\(places))",
            [.text(isLocal ? "local" : "remote"), .text(ConflictEntry.handRule), .text(name)]
                + rules.map { .text($0) })
        try connection.run(
            "UPDATE ADIPTYCHCONFLICT SET ZRECORDNAME = ? WHERE ZRECORDNAME = ?",
            [.text(other), .text(name)])
    }

    func graveNames() throws -> [String] {
        try connection.rows("SELECT ZRECORDNAME FROM ADIPTYCHGRAVE ORDER BY Z_PK")
            .compactMap { $0[0].string }
    }

    /// Logged links to an object that was restored lead to the new one. Cost: a look at each line.
    func moveLoggedLinks(
        from name: String, to other: String, isLink: (_ entity: String, _ property: String) -> Bool
    ) throws {
        var moved: [(Int64, String, Record)] = []
        try connection.forEachRow(
            "SELECT Z_PK, ZENTITY, ZPROPERTY, ZBASE, ZLOCAL, ZREMOTE FROM ADIPTYCHCONFLICT"
        ) { row in
            guard isLink(row.text(at: 1) ?? "", row.text(at: 2) ?? "") else { return }
            for (place, column) in ["ZBASE", "ZLOCAL", "ZREMOTE"].enumerated() {
                guard var value = try row.blob(at: 3 + place).map(Self.decode),
                    case .string(let link)?? = value.fields["v"], link.isExactly(name)
                else { continue }
                value.fields["v"] = .string(other)
                moved.append((row.int64(at: 0), column, value))
            }
        }
        for (key, column, value) in moved {
            try connection.run(
                "UPDATE ADIPTYCHCONFLICT SET \(column) = ? WHERE Z_PK = ?",
                [.blob(RecordArchive.encode(value)), .integer(key)])
        }
    }

    // MARK: Links as a record

    private static func record(of links: [Grave.Link]) -> Record {
        var record = Record(recordName: "", recordType: "")
        func texts(_ value: (Grave.Link) -> String) -> FieldValue {
            .list(type: .string, links.map { .string(value($0)) })
        }
        record.fields = [
            "kinds": texts(\.kind.rawValue), "properties": texts(\.property),
            "names": texts(\.recordName), "orders": texts { $0.orderKey.map(String.init) ?? "" },
        ]
        return record
    }

    private static func links(of record: Record) -> [Grave.Link] {
        func texts(_ name: String) -> [String] {
            guard case .list(_, let values)?? = record.fields[name] else { return [] }
            return values.map { if case .string(let text) = $0 { text } else { "" } }
        }
        let (kinds, properties) = (texts("kinds"), texts("properties"))
        let (names, orders) = (texts("names"), texts("orders"))
        guard [properties.count, names.count, orders.count].allSatisfy({ $0 == kinds.count })
        else { return [] }
        return kinds.indices.compactMap { index in
            Grave.Link.Kind(rawValue: kinds[index]).map {
                Grave.Link(
                    kind: $0, property: properties[index], recordName: names[index],
                    orderKey: Int64(orders[index]))
            }
        }
    }
}
