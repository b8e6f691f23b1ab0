internal import Foundation
internal import SQLiteDriver
internal import Stores

/// Which row each id of the lines stands for. The ids are in a nameless database on the disk, so
/// that memory does not grow with them.
final class LineKeys {
    private let connection: Connection
    private let putNumbered: Statement
    private let putNamed: Statement
    private let findNumbered: Statement
    private let findNamed: Statement
    /// What stands before the number in ids such as `Book/p12`.
    private var prefixes: [[UInt8]: Int64] = [:]
    private var last: (prefix: [UInt8], number: Int64)?
    /// How many lines each entity has, by its place in the layout.
    private(set) var counts: [Int]
    private let numbers: [Int32]
    /// For each entity the stretches of its keys: the first line's place and its key.
    private var stretches: [[(place: Int, key: Int64)]]

    private static let prefixesMax = 1024
    private static let digitsMax = 12

    init(_ layout: ModelLayout) throws {
        // SQLite gives a database without a name a file that goes with it.
        connection = try Connection(path: "")
        try connection.script(
            """
            PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000;
            CREATE TABLE numbered (id INTEGER PRIMARY KEY, place INTEGER);
            CREATE TABLE named (id BLOB PRIMARY KEY, place INTEGER) WITHOUT ROWID;
            BEGIN;
            """)
        putNumbered = try connection.compile("INSERT INTO numbered VALUES (?, ?)")
        putNamed = try connection.compile("INSERT INTO named VALUES (?, ?)")
        findNumbered = try connection.compile("SELECT place FROM numbered WHERE id = ?")
        findNamed = try connection.compile("SELECT place FROM named WHERE id = ?")
        counts = Array(repeating: 0, count: layout.entities.count)
        stretches = Array(repeating: [], count: layout.entities.count)
        numbers = layout.entities.map(\.number)
    }

    /// Takes in a line of an entity, by the entity's place. Returns false where the id stands
    /// twice.
    func add(_ id: JSONText?, entity: Int) throws -> Bool {
        let place = Int64(entity) << 40 | Int64(counts[entity])
        counts[entity] += 1
        guard let id else { return true }
        return try id.withoutEscapes { id in
            do {
                let statement = try bind(id, isNew: true, numbered: putNumbered, named: putNamed)
                try statement.bind(.integer(place), at: 2)
                try statement.perform()
                return true
            } catch let fault as SQLiteFault where fault.isConstraint {
                return false
            }
        }
    }

    private func bind(
        _ id: JSONText, isNew: Bool, numbered: Statement, named: Statement
    ) throws -> Statement {
        if let number = try number(of: id, isNew: isNew) {
            try numbered.bind(.integer(number), at: 1)
            return numbered
        }
        try named.bind(.blob(Data(try id.string().utf8)), at: 1)
        return named
    }

    /// Gives every line its key.
    func reserve(from store: any RowStore) throws {
        for (entity, count) in counts.enumerated() {
            var done = 0
            while done < count {
                let part = min(count - done, 10_000)
                let keys = try store.reserveKeys(entity: numbers[entity], count: part)
                for (offset, key) in keys.enumerated() {
                    let expected = stretches[entity].last.map {
                        $0.key + Int64(done + offset - $0.place)
                    }
                    if key != expected { stretches[entity].append((done + offset, key)) }
                }
                done += part
            }
        }
    }

    /// The row of the line that is the `place`th of its entity; nil where the file had fewer.
    func row(entity: Int, place: Int) -> RowID? {
        guard place < counts[entity],
            let stretch = stretches[entity].last(where: { $0.place <= place })
        else { return nil }
        let key = stretch.key + Int64(place - stretch.place)
        return RowID(entity: numbers[entity], key: key)
    }

    /// The row that an id stands for; nil where no line has it.
    func row(_ id: JSONText) throws -> RowID? {
        try id.withoutEscapes { id in
            let statement = try bind(id, isNew: false, numbered: findNumbered, named: findNamed)
            defer { statement.rewind() }
            guard try statement.step() else { return nil }
            let place = statement.int64(at: 0)
            return row(entity: Int(place >> 40), place: Int(place & (1 << 40 - 1)))
        }
    }

    /// An id that ends with a plain number as one number, which costs a fraction of a text; nil for
    /// others.
    private func number(of id: JSONText, isNew: Bool) throws -> Int64? {
        var number: Int64 = 0
        var scale: Int64 = 1
        var start = id.bytes.count
        while start > 0, (0x30...0x39).contains(id.bytes[start - 1]) {
            start -= 1
            guard id.bytes.count - start <= Self.digitsMax else { return nil }
            number += Int64(id.bytes[start] - 0x30) * scale
            scale *= 10
        }
        let digits = id.bytes.count - start
        guard digits > 0, digits == 1 || id.bytes[start] != 0x30, number < 1 << 40 else {
            return nil
        }
        let prefix = UnsafeBufferPointer(rebasing: id.bytes[..<start])
        return try self.prefix(prefix, isNew: isNew).map { $0 << 40 | number }
    }

    private func prefix(_ bytes: UnsafeBufferPointer<UInt8>, isNew: Bool) throws -> Int64? {
        if let last, JSONText(bytes: bytes, hasEscapes: false).isSame(as: last.prefix) {
            return last.number
        }
        let prefix = Array(bytes)
        if let known = prefixes[prefix] {
            last = (prefix, known)
            return known
        }
        guard isNew, prefixes.count < Self.prefixesMax else { return nil }
        guard String(validating: prefix, as: UTF8.self) != nil else {
            throw JSONFault("A text is not UTF-8.")
        }
        let number = Int64(prefixes.count)
        prefixes[prefix] = number
        last = (prefix, number)
        return number
    }
}
