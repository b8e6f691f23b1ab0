public import Foundation

/// JSON of the wire: requests, answers and errors to and from bodies. (SERVICE §3–5)
///
/// Requests are read strictly and answers leniently. Doubles that JSON cannot spell travel as the
/// strings `NaN`, `Infinity` and `-Infinity` under the type DOUBLE. Cost: linear in the body.
public enum WireCodec {
    /// The paths of all operations, after the database.
    package static var operationPaths: [String] {
        WireOperation.allCases.map(\.rawValue)
    }

    /// The path after the database (`records/modify`), the method, and the body (empty for GET).
    /// Throws BAD_REQUEST for a list whose elements are not all of its type.
    public static func encode(
        _ request: RecordRequest
    ) throws -> (path: String, method: String, body: Data) {
        let operation = WireOperation(request)
        var writer = JSONWriter(capacity: 4096)
        try writer.request(request)
        let isGet = operation.takesGet && writer.data.isEmpty
        return (operation.rawValue, isGet ? "GET" : "POST", writer.data)
    }

    /// Reads a request. Throws NOT_FOUND for an operation this service lacks, BAD_REQUEST with the
    /// place (`operations[3].record.fields.title.value`) for a wrong body, LIMIT_EXCEEDED for too
    /// much of it. In the plain dialect records and subscriptions may have members of the client's
    /// own.
    public static func decodeRequest(
        path: String, method: String, body: Data, dialect: ServiceDialect = .extended
    ) throws(RecordError) -> RecordRequest {
        let operation = try WireOperation(path: path)
        guard method == "POST" || (method == "GET" && operation.takesGet) else {
            let taken = operation.takesGet ? "GET or POST" : "POST"
            throw RecordError(
                .badRequest, "\(operation.rawValue) takes \(taken), not \(method).")
        }
        return try read(body, dialect == .plain ? .plain : .strict) { body in
            switch operation {
            case .modifyRecords: .modifyRecords(try body.modifyRecords())
            case .lookupRecords: .lookupRecords(try body.lookupRecords())
            case .queryRecords: .queryRecords(try body.queryRecords())
            case .zoneChanges: .zoneChanges(try body.zoneChanges())
            case .recordChanges: .recordChanges(try body.recordChanges())
            case .databaseChanges: .databaseChanges(try body.databaseChanges(isMeta: false))
            case .zonesChanged: .databaseChanges(try body.databaseChanges(isMeta: true))
            case .modifyZones: .modifyZones(try body.modifyZones())
            case .lookupZones: .lookupZones(try body.lookupZones())
            case .modifySubscriptions: .modifySubscriptions(try body.modifySubscriptions())
            case .lookupSubscriptions: .lookupSubscriptions(try body.lookupSubscriptions())
            case .createToken: .createToken(try body.courierToken(isNew: true))
            case .registerToken: .registerToken(try body.courierToken(isNew: false))
            case .listSubscriptions: try Self.nothing(body, .listSubscriptions)
            case .listZones: try Self.nothing(body, .listZones)
            case .caller: try Self.nothing(body, .caller)
            case .currentUser: try Self.nothing(body, .currentUser)
            case .discoverUsers where method == "GET":
                try Self.nothing(body, .lookupUsers(UserLookup(.addressBook)))
            case .discoverUsers: .lookupUsers(try body.userLookup())
            case .usersByEmail: .lookupUsers(try body.formerUserLookup(.email))
            case .usersByID: .lookupUsers(try body.formerUserLookup(.id))
            case .contacts: try Self.nothing(body, .lookupUsers(UserLookup(.contacts)))
            case .resolveShares: .resolveShares(try body.shareLookup())
            case .acceptShares: .acceptShares(try body.shareLookup())
            case .uploadAssets: .uploadAssets(try body.uploadAssets())
            case .rereferenceAssets: .rereferenceAssets(try body.rereferenceAssets())
            }
        }
    }

    /// Writes an answer; `request`, where known, decides whether integers are spelled as strings,
    /// `usual` what is said where the answer says nothing of it.
    public static func encode(
        _ response: RecordResponse, to request: RecordRequest? = nil, usual: UsualMembers? = nil
    ) throws -> Data {
        var writer = JSONWriter(capacity: 4096, usual: usual)
        try writer.response(response, numbersAsStrings: request?.numbersAsStrings ?? false)
        return writer.data
    }

    /// Reads the answer to `request`. Throws UNEXPECTED_SERVER_RESPONSE when it is not one.
    public static func decodeResponse(
        to request: RecordRequest, _ body: Data
    ) throws -> RecordResponse {
        try unexpected { () throws(RecordError) in
            try read(body, .lenient) { try $0.response(to: request) }
        }
    }

    /// Writes the body of a request that failed as a whole.
    public static func encode(_ error: RecordError) throws -> Data {
        var writer = JSONWriter()
        try writer.object { try $0.error(error, numbersAsStrings: false) }
        return writer.data
    }

    /// Reads the body of a request that failed as a whole. Throws UNEXPECTED_SERVER_RESPONSE when
    /// it is no error of this protocol, for example a page of a proxy.
    public static func decodeError(_ body: Data) throws -> RecordError {
        try unexpected { () throws(RecordError) in
            try read(body, .lenient) { body in
                try body.required("serverErrorCode") { _ in try body.asError() }
            }
        }
    }

    /// Reads a body that no request describes, leniently. Throws UNEXPECTED_SERVER_RESPONSE.
    static func readAnswer<Value>(
        _ body: Data, _ read: @escaping (WireObject) throws -> Value
    ) throws -> Value {
        try unexpected { () throws(RecordError) in
            try self.read(body, .lenient, read)
        }
    }

    private static func nothing(
        _ body: WireObject, _ request: RecordRequest
    ) throws -> RecordRequest {
        try body.nothing()
        return request
    }

    /// An empty body stands for an object without members.
    static func read<Value>(
        _ body: Data, _ reading: WireObject.Reading, _ read: (WireObject) throws -> Value
    ) throws(RecordError) -> Value {
        try WireLimits.check(body)
        do {
            return try (body.isEmpty ? Data("{}".utf8) : body).withUnsafeBytes { bytes in
                try JSONText.read(bytes) { text in
                    if reading != .lenient { try UniqueKeys.check(text) }
                    return try read(WireObject(text.root, reading))
                }
            }
        } catch let error as RecordError {
            throw error
        } catch {
            throw RecordError(.badRequest, "The body cannot be read: \(error).")
        }
    }

    static func unexpected<Value>(
        _ read: () throws(RecordError) -> Value
    ) throws(RecordError) -> Value {
        do {
            return try read()
        } catch {
            throw RecordError(
                .unexpectedServerResponse, "The answer cannot be read. \(error.reason)")
        }
    }
}
