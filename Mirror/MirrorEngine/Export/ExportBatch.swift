package import Foundation
package import RecordWire

/// What one request exports, and what each operation stands for here.
package struct ExportBatch: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// An object's line, changed up to a history transaction.
        case object(key: Int64, transaction: Int64)
        case deletedObject(key: Int64)
        /// A version that the service lost, as it was; later edits follow.
        case replay(key: Int64)
        case pair(key: Int64)
        case deletedPair(key: Int64)
        /// A name whose object was merged into another.
        case alias
        /// The object that took such names in. Nothing of it is written: it has to be there still,
        /// or none of its names is dropped.
        case survivor(key: Int64)

        /// The history transaction up to which the object's edits are in it; 0 for none.
        var transaction: Int64 {
            if case .object(_, let transaction) = self { transaction } else { 0 }
        }

        var isReplay: Bool { if case .replay = self { true } else { false } }

        /// Whether the service will hold a record afterwards.
        var isUpsert: Bool {
            switch self {
            case .object, .pair, .replay, .survivor: true
            case .deletedObject, .deletedPair, .alias: false
            }
        }

        var isSurvivor: Bool { if case .survivor = self { true } else { false } }
    }

    package struct Item: Hashable, Sendable {
        package var subject: Subject
        package var operation: RecordOperation
        /// nil where the operation has all of it.
        private var whole: Record?
        /// The archive of the result's fields, once the batch is whole.
        package var archivedFields = Data()

        init(_ subject: Subject, _ operation: RecordOperation, result: Record?) {
            self.subject = subject
            self.operation = operation
            whole = result
        }

        /// The whole record as it will stand once the operation is applied.
        package var result: Record {
            get {
                if let whole { return whole }
                var record = operation.record
                record.writeID = nil
                return record
            }
            set { whole = newValue }
        }

        /// Keeps the archive of the result's fields, for who writes them again.
        mutating func keep(_ archive: Data) {
            archivedFields = archive
            if whole == nil { operation.record.fields.keep(archive) }
        }
    }

    /// Names the batch in the log of exports.
    package var identifier = ""
    /// How often the store had been compared with the zone as a whole when it was built.
    var comparisons: Int64 = 0
    package var items: [Item] = []
    /// What has to be uploaded before any record can be sent; `items` is empty then.
    package var uploads: [AssetUpload] = []
    /// A rough measure of the request's size.
    package var bytes = 0
    /// Names of records that the service did not find, and may have deleted: nothing is concluded
    /// from it before the zone was read.
    package var missing: Set<String> = []
    /// The store is to be compared with the zone as a whole, as of a reset: nothing is sent before
    /// it was read.
    package var needsReading = false
    /// The last line of an object in it, where there may be more behind.
    package var lastKey: Int64?
    /// Changes that were noted in the history on the way.
    package var noted = 0

    package var isEmpty: Bool { items.isEmpty && uploads.isEmpty }
    /// Whether the service takes all of it or nothing.
    package var isAtomic: Bool { items.contains(where: \.subject.isSurvivor) }
    package var operations: [RecordOperation] { items.map(\.operation) }
}

extension Record {
    /// A rough measure of the record's size on the wire.
    package var approximateBytes: Int {
        fields.reduce(128 + recordName.utf8.count) { sum, field in
            sum + field.key.utf8.count + 32 + Self.bytes(field.value)
        }
    }

    private static func bytes(_ value: FieldValue?) -> Int {
        switch value {
        case .string(let text): escapedBytes(text)
        case .bytes(let data): data.count * 4 / 3
        case .list(_, let values): values.reduce(8) { $0 + bytes($1) }
        case .encrypted(let plain): 24 + bytes(plain)
        default: 24
        }
    }

    /// The bytes of a text as a JSON string.
    private static func escapedBytes(_ text: String) -> Int {
        var text = text
        return text.withUTF8 { utf8 in
            utf8.reduce(2) { sum, byte in
                sum + (byte < 0x20 ? 6 : byte == 0x22 || byte == 0x5C || byte == 0x2F ? 2 : 1)
            }
        }
    }
}
