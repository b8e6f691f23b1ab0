internal import SQLiteDriver

/// A to-one link whose target has not arrived (ANSCKIMPORTPENDINGRELATIONSHIP).
package struct PendingLink: Hashable, Sendable {
    package var recordName: String
    package var property: String
    package var target: NamedLink
}

extension Ledger {
    package func keepPending(_ link: PendingLink) throws {
        try dropPending(link.recordName, property: link.property)
        rare.note(.pendingLinks)
        try connection.run(
            "INSERT INTO ANSCKIMPORTPENDINGRELATIONSHIP (Z_ENT, Z_OPT, ZNEEDSDELETE, ZRECORDNAME, "
                + "ZRELATEDRECORDNAME, ZRELATIONSHIPNAME, ZOPERATION) VALUES (17008, 1, 0, ?, "
                + "?, ?, ?)",
            [
                .text(link.recordName), .text(link.target.recordName), .text(link.property),
                SQLiteValue(link.target.orderKey),
            ])
    }

    package func dropPending(_ name: String, property: String) throws {
        guard try mayHold(.pendingLinks) else { return }
        try connection.run(
            "DELETE FROM ANSCKIMPORTPENDINGRELATIONSHIP WHERE ZRECORDNAME = ? "
                + "AND ZRELATIONSHIPNAME = ?", [.text(name), .text(property)])
    }

    /// The links of one object that wait for their targets.
    package func pendingLinks(of name: String) throws -> [PendingLink] {
        try mayHold(.pendingLinks) ? links("ZRECORDNAME = ?", [.text(name)]) : []
    }

    /// The links that wait for the object called `name`.
    package func pendingLinks(to name: String) throws -> [PendingLink] {
        try links("ZRELATEDRECORDNAME = ?", [.text(name)])
    }

    package func hasPendingLinks() throws -> Bool { try mayHold(.pendingLinks) }

    func links(_ condition: String, _ values: [SQLiteValue]) throws -> [PendingLink] {
        try connection.rows(
            "SELECT ZRECORDNAME, ZRELATIONSHIPNAME, ZRELATEDRECORDNAME, ZOPERATION "
                + "FROM ANSCKIMPORTPENDINGRELATIONSHIP WHERE \(condition) ORDER BY Z_PK", values
        ).map { row in
            PendingLink(
                recordName: row[0].string ?? "", property: row[1].string ?? "",
                target: NamedLink(row[2].string ?? "", orderKey: row[3].int64))
        }
    }
}
