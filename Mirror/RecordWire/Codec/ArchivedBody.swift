public import Foundation

/// The parts of an archived body. (SERVICE §11)
enum ArchivedBody {
    /// The first bytes, and the version behind them.
    static let magic = Array("DPRB".utf8)
    static let version: UInt8 = 1

    /// What follows in a record behind its name and type; bits of one byte.
    struct Parts: OptionSet {
        let rawValue: UInt8
        static let deleted = Parts(rawValue: 1)
        static let tag = Parts(rawValue: 2)
        static let writeID = Parts(rawValue: 4)
        static let writeIDs = Parts(rawValue: 8)
        static let replays = Parts(rawValue: 16)
        static let sharing = Parts(rawValue: 32)
        static let all: Parts = [.deleted, .tag, .writeID, .writeIDs, .replays, .sharing]
    }

    /// The byte before something that records of a body have in common.
    enum Shared: UInt8 {
        case none = 0
        case given
        /// As it was given last in the body.
        case same
    }

    /// Operations by their numbers.
    static let kinds: [RecordOperation.Kind] = [
        .create, .update, .forceUpdate, .replace, .forceReplace, .delete, .forceDelete,
    ]

    /// Of an entry of an answer.
    enum Entry: UInt8 {
        case record = 0
        case failure
        /// A failure, and the record that the service has.
        case failureWithRecord
    }
}

extension WireCodec {
    /// As `encode(_:)`, in the format `wanted` where the request can travel so. Returns the format
    /// too.
    public static func encode(
        _ request: RecordRequest, as wanted: WireFormat
    ) throws -> (path: String, method: String, body: Data, format: WireFormat) {
        guard request.format(wanted) == .archived, case .modifyRecords(let modify) = request else {
            let (path, method, body) = try encode(request)
            return (path, method, body, .json)
        }
        var rest = modify
        rest.operations = []
        var writer = try ArchivedBodyWriter(.modifyRecords(rest), bytes: modify.approximateBytes)
        try writer.operations(modify.operations)
        return (WireOperation(request).rawValue, "POST", writer.data, .archived)
    }

    /// As `decodeRequest(path:method:body:)`, of a body in `format`. Throws BAD_REQUEST for an
    /// archived body of an operation that has none.
    public static func decodeRequest(
        path: String, method: String, body: Data, format: WireFormat,
        dialect: ServiceDialect = .extended
    ) throws(RecordError) -> RecordRequest {
        guard format == .archived else {
            return try decodeRequest(path: path, method: method, body: body, dialect: dialect)
        }
        guard try WireOperation(path: path) == .modifyRecords, method == "POST" else {
            throw RecordError(
                .badRequest, "\(path) takes JSON; send it as \(WireFormat.json.mediaType).")
        }
        return try ArchivedBodyReader.read(body, areStrict: true) { reader in
            var modify = try reader.envelope { try $0.modifyRecords() }
            guard modify.operations.isEmpty else { throw ArchivedBodyReader.misplaced }
            modify.operations = try reader.operations()
            return .modifyRecords(modify)
        }
    }

    /// As `encode(_:to:)`, in the format `wanted` where the answer can travel so. Returns the
    /// format too. Fields that nobody has looked at are copied.
    public static func encode(
        _ response: RecordResponse, to request: RecordRequest? = nil, as wanted: WireFormat
    ) throws -> (body: Data, format: WireFormat) {
        guard response.format(wanted) == .archived else {
            return (try encode(response, to: request), .json)
        }
        var writer: ArchivedBodyWriter
        switch response {
        case .records(let reply):
            var rest = reply
            rest.results = []
            writer = try ArchivedBodyWriter(.records(rest))
            try writer.results(reply.results)
        case .zoneChanges(let pages):
            let rest = pages.map(\.withoutRecords)
            writer = try ArchivedBodyWriter(.zoneChanges(rest))
            for page in pages { try writer.records(page.failure == nil ? page.records : []) }
        case .recordChanges(let page):
            writer = try ArchivedBodyWriter(.recordChanges(page.withoutRecords))
            try writer.records(page.records)
        default: return (try encode(response, to: request), .json)
        }
        return (writer.data, .archived)
    }

    /// As `decodeResponse(to:_:)`, of a body in `format`.
    public static func decodeResponse(
        to request: RecordRequest, _ body: Data, format: WireFormat
    ) throws -> RecordResponse {
        guard format == .archived else { return try decodeResponse(to: request, body) }
        return try unexpected { () throws(RecordError) in
            try ArchivedBodyReader.read(body, areStrict: false) { reader in
                switch try reader.envelope({ try $0.response(to: request) }) {
                case .records(var reply):
                    guard reply.results.isEmpty else { throw ArchivedBodyReader.misplaced }
                    reply.results = try reader.results()
                    return .records(reply)
                case .zoneChanges(var pages):
                    for index in pages.indices {
                        guard pages[index].records.isEmpty else {
                            throw ArchivedBodyReader.misplaced
                        }
                        pages[index].records = try reader.records()
                    }
                    return .zoneChanges(pages)
                case .recordChanges(var page):
                    guard page.records.isEmpty else { throw ArchivedBodyReader.misplaced }
                    page.records = try reader.records()
                    return .recordChanges(page)
                default: throw ArchivedBodyReader.misplaced
                }
            }
        }
    }
}

extension ZoneChangesReply {
    fileprivate var withoutRecords: ZoneChangesReply {
        var rest = self
        rest.records = []
        return rest
    }
}

extension ModifyRecords {
    /// A guess, by which memory is taken at once.
    fileprivate var approximateBytes: Int { 256 + operations.count * 256 }
}
