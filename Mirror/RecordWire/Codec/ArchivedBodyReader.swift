internal import Foundation

/// Reads an archived body, which may be anything. (SERVICE §11)
struct ArchivedBodyReader {
    private var archive: ArchiveReader
    private let areStrict: Bool
    private var lastType: String?
    private var lastStamp: RecordStamp?
    private var lastUser: String?
    private var lastDevice: String?
    private var lastZone: ZoneID?

    /// Lends a reader of `body` to `read`, which has to read all of it. Throws BAD_REQUEST for what
    /// is no archived body, LIMIT_EXCEEDED for too much of one.
    static func read<Value>(
        _ body: Data, areStrict: Bool, _ read: (inout ArchivedBodyReader) throws -> Value
    ) throws(RecordError) -> Value {
        guard body.count <= WireLimits.bodyBytesMax else {
            throw RecordError(
                .limitExceeded,
                "The body has \(body.count) bytes; at most \(WireLimits.bodyBytesMax) fit. "
                    + "Send less at a time.")
        }
        do {
            return try body.withUnsafeBytes { bytes in
                var reader = ArchivedBodyReader(
                    archive: ArchiveReader(
                        bytes, keeping: body, bounds: ArchiveBounds(areStrict: areStrict)),
                    areStrict: areStrict)
                try reader.begin()
                let value = try read(&reader)
                try reader.archive.end()
                return value
            }
        } catch let error as RecordError {
            throw error
        } catch let error as RecordArchiveError {
            throw RecordError(
                .badRequest,
                "The body is no archive of records: \(error.message) (byte "
                    + "\(error.fields["offset"] ?? "0"))")
        } catch {
            throw RecordError(.badRequest, "The body cannot be read: \(error).")
        }
    }

    /// Records stand in the JSON of a body whose records follow it.
    static let misplaced = RecordError(
        .badRequest, "The body has records before those that are archived; archive them all.")

    private init(archive: ArchiveReader, areStrict: Bool) {
        self.archive = archive
        self.areStrict = areStrict
    }

    private mutating func begin() throws {
        guard try archive.run(ArchivedBody.magic.count).elementsEqual(ArchivedBody.magic) else {
            throw archive.malformed("it does not begin as one")
        }
        let version = try archive.byte()
        guard version == ArchivedBody.version else {
            throw RecordError(
                .badRequest,
                "The body has version \(version) of archived records; this side reads "
                    + "\(ArchivedBody.version). Send JSON.")
        }
    }

    /// What is no record: JSON, behind its length.
    mutating func envelope<Value>(_ read: (WireObject) throws -> Value) throws -> Value {
        let bytes = Data(try archive.run(try archive.count(ofAtLeast: 1)))
        return try WireCodec.read(bytes, areStrict ? .strict : .lenient, read)
    }

    mutating func operations() throws -> [RecordOperation] {
        let count = try archive.entries(ofAtLeast: RecordsMinimum.bytes)
        var operations: [RecordOperation] = []
        operations.reserveCapacity(count)
        for _ in 0..<count {
            let number = Int(try archive.byte())
            guard ArchivedBody.kinds.indices.contains(number) else {
                throw archive.malformed("an unknown operation")
            }
            operations.append(RecordOperation(ArchivedBody.kinds[number], try record()))
        }
        return operations
    }

    mutating func records() throws -> [Record] {
        let count = try archive.entries(ofAtLeast: RecordsMinimum.bytes)
        var records: [Record] = []
        records.reserveCapacity(count)
        for _ in 0..<count { records.append(try record()) }
        return records
    }

    mutating func results() throws -> [RecordResult] {
        let count = try archive.entries(ofAtLeast: 1)
        var results: [RecordResult] = []
        results.reserveCapacity(count)
        for _ in 0..<count {
            guard let entry = ArchivedBody.Entry(rawValue: try archive.byte()) else {
                throw archive.malformed("an unknown entry")
            }
            switch entry {
            case .record: results.append(.record(try record()))
            case .failure: results.append(.failure(try failure()))
            case .failureWithRecord:
                var error = try failure()
                error.serverRecord = try record()
                results.append(.failure(error))
            }
        }
        return results
    }

    private mutating func failure() throws -> RecordError {
        let error = try envelope { try $0.asError() }
        guard let error else { throw archive.malformed("a failure without a code") }
        return error
    }

    // MARK: Records

    private enum RecordsMinimum {
        /// Parts, name, type, three marks and the count of fields.
        static let bytes = 7
    }

    private mutating func record() throws -> Record {
        let parts = ArchivedBody.Parts(rawValue: try archive.byte())
        guard ArchivedBody.Parts.all.isSuperset(of: parts) else {
            throw archive.malformed("unknown parts")
        }
        let name = try archive.text()
        let type = try text(after: lastType) ?? ""
        lastType = type
        var record = Record(recordName: name, recordType: type)
        record.deleted = parts.contains(.deleted)
        if parts.contains(.tag) { record.recordChangeTag = try archive.text() }
        if parts.contains(.writeID) { record.writeID = try archive.text() }
        if parts.contains(.writeIDs) {
            let count = try archive.entries(ofAtLeast: 1)
            for _ in 0..<count { record.recentWriteIDs.append(try archive.text()) }
        }
        if parts.contains(.replays) {
            let count = try archive.entries(ofAtLeast: 2)
            for _ in 0..<count {
                let tag = try archive.text()
                let version = try archive.optional { try $0.text() }
                record.replays.append(Replay(tag: tag, version: version))
            }
        }
        record.created = try stamp()
        record.modified = try stamp()
        record.zoneID = try zone()
        let sharing = parts.contains(.sharing) ? try sharing(of: record) : nil
        record.fields = try archive.fields(named: nil)
        for (name, value) in sharing ?? [:] { record.fields.updateValue(value, forKey: name) }
        return record
    }

    /// The members that belong to sharing, as JSON has them.
    private mutating func sharing(of record: Record) throws -> RecordFields {
        var shared = record
        try envelope { members in
            try members.allow(WireObject.sharingKeys)
            try members.readSharing(into: &shared)
        }
        return shared.fields
    }

    // MARK: What records have in common

    private mutating func stamp() throws -> RecordStamp? {
        switch try mark() {
        case .none: return nil
        case .same: return try known(lastStamp)
        case .given: break
        }
        let timestamp = try archive.integer()
        let user = try text(after: lastUser)
        let device = try text(after: lastDevice)
        lastUser = user ?? lastUser
        lastDevice = device ?? lastDevice
        let stamp = RecordStamp(timestamp: timestamp, userRecordName: user, deviceID: device)
        lastStamp = stamp
        return stamp
    }

    private mutating func zone() throws -> ZoneID? {
        switch try mark() {
        case .none: return nil
        case .same: return try known(lastZone)
        case .given: break
        }
        let zone = ZoneID(
            zoneName: try archive.text(), ownerRecordName: try archive.optional { try $0.text() })
        lastZone = zone
        return zone
    }

    private mutating func text(after last: String?) throws -> String? {
        switch try mark() {
        case .none: nil
        case .given: try archive.text()
        case .same: try known(last)
        }
    }

    private mutating func mark() throws -> ArchivedBody.Shared {
        guard let mark = ArchivedBody.Shared(rawValue: try archive.byte()) else {
            throw archive.malformed("an unknown mark")
        }
        return mark
    }

    private func known<Value>(_ last: Value?) throws -> Value {
        guard let last else { throw archive.malformed("something as before, before there is any") }
        return last
    }
}
