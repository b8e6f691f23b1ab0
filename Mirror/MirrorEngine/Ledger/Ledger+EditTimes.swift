package import Foundation
internal import SQLiteDriver
package import Stores

/// When the properties under the rule `latest`, by their keys, were edited last, as far as this
/// device knows.
extension Ledger {
    package func editTimes(of name: String) throws -> EditTimes {
        let rows = try connection.rows(
            "SELECT ZPROPERTY, ZMILLISECONDS, ZDEVICE FROM ADIPTYCHEDIT WHERE ZRECORDNAME = ?",
            [.text(name)])
        var times: [String: EditTime] = [:]
        for row in rows {
            guard let property = row[0].string, let milliseconds = row[1].int64 else { continue }
            times[property] = EditTime(milliseconds: milliseconds, device: row[2].string ?? "")
        }
        return EditTimes(times)
    }

    package func setEditTime(_ time: EditTime, of name: String, _ property: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO ADIPTYCHEDIT (ZRECORDNAME, ZPROPERTY, ZMILLISECONDS, ZDEVICE) "
                + "VALUES (?, ?, ?, ?)",
            [.text(name), .text(property), .integer(time.milliseconds), .text(time.device)])
    }

    /// The time of an edit that was saved at `date`: later than every time seen before.
    package func tick(at date: Date) throws -> EditTime {
        // A date in a damaged history is no time, and a clock in a damaged ledger has an end.
        let now = Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded(.down)) ?? 0
        let seen = min(try setting(.editClock)?.int64 ?? 0, EditTime.credible.upperBound - 2)
        let milliseconds = min(max(now, seen + 1), EditTime.credible.upperBound - 1)
        try set(.editClock, to: .integer(milliseconds))
        return EditTime(milliseconds: milliseconds, device: try deviceID())
    }

    /// Moves the clock past the times that another device's record carries.
    package func witness(_ times: EditTimes) throws {
        guard let latest = times.times.values.map(\.milliseconds).max() else { return }
        let reached = min(latest, EditTime.witnessedMax)
        guard reached > (try setting(.editClock)?.int64 ?? 0) else { return }
        try set(.editClock, to: .integer(reached))
    }

    static let unseenEdits = "ADIPTYCHUNSEENEDIT"

    /// The edits that no round had looked at before the store was migrated into this file, the last
    /// of each property, oldest first; nil for all properties of an object that was made. They are
    /// forgotten. The store writes them, without those of `author`.
    package func takeUnseenEdits(
        without author: String
    ) throws -> [(row: RowID, property: String?, date: Date)] {
        let table = Self.unseenEdits
        guard
            try connection.value(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)])
                != nil
        else { return [] }
        let rows = try connection.rows(
            "SELECT ZENTITYID, ZENTITYPK, ZPROPERTY, max(ZDATE) FROM \(table) "
                + "WHERE ZAUTHOR IS NOT ? GROUP BY 1, 2, 3 ORDER BY 4, 1, 2, 3", [.text(author)])
        try connection.run("DELETE FROM \(table)")
        return rows.compactMap { row in
            guard let entity = row[0].int64, let key = row[1].int64 else { return nil }
            return (
                RowID(entity: Int32(truncatingIfNeeded: entity), key: key), row[2].string,
                Date(timeIntervalSinceReferenceDate: row[3].double ?? 0)
            )
        }
    }
}
