internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Takes exported lines into a store, all or none, with memory that does not grow with them.
///
/// The lines are gone through up to three times: for their ids, for their rows, and for the links
/// that no row holds. So a line may lead to a later one. Of a link that one line names, both ends
/// are set.
final class LineImport {
    /// What came of it.
    struct Outcome {
        var objectCount = 0
        /// Values that were lost before the export.
        var missingCount = 0
        /// What the store does not keep as it was.
        var numbers = LostNumbers()
    }

    private let source: LineSource
    private let store: any RowStore
    private let reader: LineReader
    private let keys: LineKeys
    private let progress: ProgressMeter
    private let interruption: Interruption
    private var outcome = Outcome()
    /// Whether a line has links for the last pass.
    private var hasMoreLinks = false

    private static let batchCount = 1000
    private static let batchBytes = 4 << 20

    init(
        _ source: LineSource, into store: any RowStore, progress: ProgressMeter,
        interruption: Interruption
    ) throws {
        self.source = source
        self.store = store
        self.progress = progress
        self.interruption = interruption
        reader = LineReader(store.layout, keepsNaN: !(store is SQLiteRowStore))
        keys = try LineKeys(store.layout)
    }

    /// Does it. Throws a `CommandError` that names the line; then the store is as it was.
    func run() throws -> Outcome {
        try readKeys()
        guard outcome.objectCount > 0 else { return outcome }
        if let database = store as? SQLiteRowStore {
            try database.write { transaction in
                try fill(TransactionTarget(transaction))
                progress.say("writing to the disk")
            }
        } else {
            let whole = WholeTarget()
            try fill(whole)
            _ = try store.save(whole.changes)
        }
        return outcome
    }

    private func fill(_ target: any ImportTarget) throws {
        try keys.reserve(from: store)
        try readRows(into: target)
        if hasMoreLinks { try readLinks(into: target) }
    }

    // MARK: Passes

    private func readKeys() throws {
        try forEachLine("reading", share: 0..<15) { bytes, _ in
            let line = try reader.line(bytes)
            guard try keys.add(line.id, entity: line.entity) else {
                let id = try line.id?.string() ?? ""
                throw LineFault(
                    "The id '\(id.prefix(80))' stands twice.", "Give each object its own.")
            }
            outcome.objectCount += 1
            return outcome.objectCount
        }
    }

    private func readRows(into target: any ImportTarget) throws {
        var batch = RowBatch()
        var done = 0
        var counter = LineCounter(reader.layout)
        try forEachLine("importing", share: 15..<85) { bytes, number in
            let line = try reader.line(bytes)
            var row = try counter.nextRow(of: line, keys, reader.layout)
            outcome.missingCount += try reader.readValues(of: line, into: &row)
            if store is SQLiteRowStore {
                outcome.numbers.note(row, reader.layout.entities[line.entity])
            }
            if line.hasLinks, try reader.readToOnes(of: line, into: &row, keys) {
                hasMoreLinks = true
            }
            batch.add(row, line: number, bytes: bytes.count)
            done += 1
            if batch.rows.count >= Self.batchCount || batch.bytes >= Self.batchBytes {
                try batch.write(to: target)
            }
            return done
        }
        try batch.write(to: target)
    }

    private func readLinks(into target: any ImportTarget) throws {
        var links = LinkBatch(reader.layout)
        var done = 0
        var counter = LineCounter(reader.layout)
        try forEachLine("linking", share: 85..<100) { bytes, number in
            let line = try reader.line(bytes)
            var row = try counter.nextRow(of: line, keys, reader.layout)
            done += 1
            guard line.hasLinks else { return done }
            _ = try reader.readToOnes(of: line, into: &row, keys)
            links.addOneToOnes(of: row, line: number)
            try reader.forEachToMany(of: line, keys) {
                links.addMembers($1, of: row.id, slot: $0, line: number)
            }
            if links.count >= Self.batchCount { try links.write(to: target) }
            return done
        }
        try links.write(to: target)
    }

    /// Goes through the lines; `body` returns how many objects are done.
    private func forEachLine(
        _ what: String, share: Range<Int>,
        _ body: (UnsafeBufferPointer<UInt8>, Int) throws -> Int
    ) throws {
        try source.forEachLine { bytes, number in
            try interruption.check()
            let done: Int
            do {
                done = try body(bytes, number)
            } catch let fault as LineFault {
                throw LineImport.refusal(number, fault.message, fault.hint)
            } catch let fault as JSONFault {
                throw LineImport.refusal(number, fault.message, LineReader.form)
            }
            guard progress.isDue else { return }
            let part = source.size.map { Double(source.position) / Double(max($0, 1)) }
            let total = what == "reading" ? nil : outcome.objectCount
            progress.tell(
                what, done: done, of: total,
                share: part.map { (Double(share.lowerBound) + $0 * Double(share.count)) / 100 })
        }
    }

    static func refusal(_ line: Int, _ message: String, _ hint: String) -> CommandError {
        CommandError("badLine", "Line \(line): \(message)", hint: hint + " Nothing was imported.")
    }
}

/// Gives each line the row that was meant for it.
private struct LineCounter {
    private var places: [Int]

    init(_ layout: ModelLayout) { places = Array(repeating: 0, count: layout.entities.count) }

    mutating func nextRow(
        of line: LineReader.Line, _ keys: LineKeys, _ layout: ModelLayout
    ) throws -> Row {
        guard let id = keys.row(entity: line.entity, place: places[line.entity]) else {
            throw CommandError(
                "changed", "The lines changed while they were read.",
                hint: "Run it again. Nothing was imported.")
        }
        places[line.entity] += 1
        return Row(id: id, layout: layout.entities[line.entity])
    }
}

/// Rows on their way into the store, with the lines they came from.
private struct RowBatch {
    private(set) var rows: [Row] = []
    private(set) var bytes = 0
    private var lines: [Int] = []

    mutating func add(_ row: Row, line: Int, bytes: Int) {
        rows.append(row)
        lines.append(line)
        self.bytes += bytes
    }

    mutating func write(to target: any ImportTarget) throws {
        guard !rows.isEmpty else { return }
        do {
            try target.insert(rows)
        } catch let violation as UniquenessViolation {
            var failure = CommandFailure.describe(violation)
            if let place = rows.firstIndex(where: { $0.id == violation.id }) {
                failure.message = "Line \(lines[place]): " + failure.message
            }
            failure.hint = (failure.hint.map { $0 + " " } ?? "") + "Nothing was imported."
            throw failure
        }
        rows.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        bytes = 0
    }
}
