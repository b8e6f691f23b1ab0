internal import Foundation
internal import RecordWire

/// Answers one page of a query from the indexes, inside one transaction.
struct QueryRun {
    struct Zone {
        let row: ZoneRow
        let zoneID: ZoneID
        let line: EpochLine
        let access: any RecordAccess

        init(row: ZoneRow, zoneID: ZoneID, line: EpochLine, access: any RecordAccess) {
            self.row = row
            self.zoneID = zoneID
            self.line = line
            self.access = access
        }

        init(_ place: ZonePlace) {
            self.init(
                row: place.row, zoneID: place.address.shown, line: place.line,
                access: place.access)
        }
    }

    let recordType: String
    let plan: QueryPlan
    /// By their numbers.
    let zones: [Zone]
    /// The numbers of the indexes that are there.
    let indexes: [QueryIndexKey: Int64]
    /// The records of the one zone that may be seen, where they are not all; they are looked at
    /// without an index, so that nothing is told of others.
    let members: [String]?
    let access: any RecordAccess
    let limits: ServiceLimits
    let transaction: any BackendTransaction
    let damage: DamageReport
    /// The fields of the answer.
    let keys: Set<String>?
    let limit: Int

    struct Page {
        var records: [Record] = []
        var damaged: [String] = []
        /// Where the next page goes on; nil at the end.
        var next: QueryPosition?
        var bytes = 0
    }

    /// So many entries are read at once.
    private static let chunk = 256
    /// So many entries of an exact filter are put in order rather than found in order.
    private static let gatheredMax = 2_000

    func page(after position: QueryPosition?) throws -> Page {
        if let members { return try gather(members, after: position) }
        guard let ordered = plan.ordered else {
            if let stepped = plan.stepped, zones.count == 1,
                try count(plan.gathered) > min(Self.gatheredMax, limits.work.rowsMax)
            {
                return try step(along: stepped, zones[0], after: position)
            }
            return try gather(along: plan.gathered, after: position)
        }
        if !plan.order.keys.isEmpty {
            let isSmall = try plan.hasExactFilter && count(plan.gathered) <= Self.gatheredMax
            if isSmall || zones.count > 1 {
                return try gather(along: plan.gathered, after: position)
            }
        }
        return try walk(along: ordered, after: position)
    }

    // MARK: Along an index

    /// Goes along the index and ends with the page, or with the rows that may be looked at.
    private func walk(along way: QueryPlan.Way, after position: QueryPosition?) throws -> Page {
        var page = Page()
        var reached = position
        var rowsLeft = limits.work.rowsMax
        let isOpen = access.seesAll
        for zone in zones where zone.row.id >= position?.zone ?? 0 {
            let after = position.flatMap { position in
                position.zone != zone.row.id
                    ? nil
                    : position.forms.first.map { QueryEntry(form: $0, name: position.name) }
            }
            let isWhole = try scan(zone, way, after: after) { entry in
                guard rowsLeft > 0 else { return false }
                rowsLeft -= 1
                let found = try look(at: entry, zone, way, &page)
                if let found {
                    guard page.records.count < limit, page.bytes < limits.pages.bytesMax else {
                        return false
                    }
                    try take(found.row, zone, &page)
                }
                // A marker tells nothing of records that are hidden.
                guard isOpen || found != nil else { return true }
                reached = QueryPosition(
                    zone: zone.row.id, forms: [entry.form], name: entry.name)
                return true
            }
            guard isWhole else {
                guard isOpen || rowsLeft > 0 || reached != position else { throw tooMany() }
                page.next = reached
                return page
            }
        }
        return page
    }

    // MARK: All at once

    /// Looks at all that can pass, puts it in order, and takes the page. Throws LIMIT_EXCEEDED for
    /// more than may be looked at.
    private func gather(
        along way: QueryPlan.Way, after position: QueryPosition?
    ) throws -> Page {
        var page = Page()
        var found: [QueryPosition] = []
        var rowsLeft = limits.work.rowsMax
        for zone in zones {
            let isWhole = try scan(zone, way, after: nil) { entry in
                guard rowsLeft > 0 else { return false }
                rowsLeft -= 1
                guard let record = try look(at: entry, zone, way, &page) else { return true }
                let place = QueryPosition(
                    zone: zone.row.id, forms: plan.order.forms(of: record), name: entry.name)
                if position.map({ plan.order.precedes($0, place) }) ?? true { found.append(place) }
                return true
            }
            guard isWhole else { throw tooMany() }
        }
        try fill(&page, from: &found)
        return page
    }

    private func gather(_ members: [String], after position: QueryPosition?) throws -> Page {
        guard members.count <= limits.work.rowsMax, let zone = zones.first else { throw tooMany() }
        var page = Page()
        var found: [QueryPosition] = []
        for name in members {
            let entry = QueryEntry(form: .missing, name: name)
            guard let record = try passing(entry, zone, &page) else { continue }
            let place = QueryPosition(
                zone: zone.row.id, forms: plan.order.forms(of: record), name: name)
            if position.map({ plan.order.precedes($0, place) }) ?? true { found.append(place) }
        }
        try fill(&page, from: &found)
        return page
    }

    private func fill(_ page: inout Page, from found: inout [QueryPosition]) throws {
        found.sort(by: plan.order.precedes)
        for (index, place) in found.enumerated() {
            guard index < limit, page.bytes < limits.pages.bytesMax else {
                page.next = found[index - 1]
                break
            }
            guard let zone = zones.first(where: { $0.row.id == place.zone }),
                let row = try transaction.record(named: place.name, in: place.zone)
            else { continue }
            try take(row, zone, &page)
        }
    }

    private func count(_ way: QueryPlan.Way) throws -> Int {
        guard let index = indexes[way.key] else { return 0 }
        var count = 0
        for zone in zones {
            for range in way.ranges {
                count += try transaction.countEntries(
                    EntryReading(
                        index: index, zone: zone.row.id, range: range, descending: false,
                        limit: Self.gatheredMax + 1))
            }
        }
        return count
    }

    func tooMany() -> RecordError {
        RecordError(
            .limitExceeded,
            "The query has to put more than \(limits.work.rowsMax) records in order; narrow it by "
                + "a filter, or sort one zone by a key that fewer have in common.")
    }

    // MARK: Entries and records

    /// Gives the entries of a zone until `body` returns false. Returns whether it never did.
    func scan(
        _ zone: Zone, _ way: QueryPlan.Way, after: QueryEntry?, _ body: (QueryEntry) throws -> Bool
    ) throws -> Bool {
        guard let index = indexes[way.key] else { return true }
        for range in way.ranges {
            var reading = EntryReading(
                index: index, zone: zone.row.id, range: range, descending: way.descending,
                after: after, limit: Self.chunk)
            while true {
                let entries = try transaction.entries(reading)
                for entry in entries {
                    guard try body(entry) else { return false }
                }
                guard entries.count == Self.chunk else { break }
                reading.after = entries.last
            }
        }
        return true
    }

    /// The record of an entry where it passes. One with several values in the ranges counts at the
    /// first of them.
    func look(
        at entry: QueryEntry, _ zone: Zone, _ way: QueryPlan.Way, _ page: inout Page
    ) throws -> QueriedRecord? {
        guard let record = try passing(entry, zone, &page) else { return nil }
        let own = record.indexedForms(way.key).filter { form in
            way.ranges.contains { $0.contains(form) }
        }
        return (way.descending ? own.last : own.first) == entry.form ? record : nil
    }

    /// The record of an entry where it is seen, of the type that is asked for, and passes.
    private func passing(
        _ entry: QueryEntry, _ zone: Zone, _ page: inout Page
    ) throws -> QueriedRecord? {
        do {
            guard let row = try transaction.record(named: entry.name, in: zone.row.id),
                !row.isDeleted, row.type.isExactly(recordType), try zone.access.sees(row)
            else { return nil }
            let record = try QueriedRecord(row, named: plan.names)
            return plan.filters.allSatisfy({ $0.passes(record) }) ? record : nil
        } catch let error as RecordArchiveError {
            note(entry, zone, cause: error.message, &page)
        } catch let error as DamagedRow {
            note(entry, zone, cause: error.cause, &page)
        }
        return nil
    }

    private func note(_ entry: QueryEntry, _ zone: Zone, cause: String, _ page: inout Page) {
        damage.note(entry.name, in: zone.zoneID, cause: cause)
        page.damaged.append(entry.name)
    }

    func take(_ row: RecordRow, _ zone: Zone, _ page: inout Page) throws {
        var row = row
        row.epoch = zone.line.epoch(of: row.change)
        page.records.append(try row.record(in: zone.zoneID, keys: keys))
        page.bytes += row.fields.count + ServiceLimits.recordOverheadBytes
    }
}
