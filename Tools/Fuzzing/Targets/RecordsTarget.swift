internal import Foundation
internal import RecordWire

/// Bodies with archived records, as a service takes them from clients and a client from a service.
enum RecordsTarget {
    private static let asked = RecordRequest.modifyRecords(
        ModifyRecords(operations: [], zoneID: nil))

    static func read(_ data: Data) throws {
        // What an answer may say of records is more; its refusal is not that of the request.
        _ = try? WireCodec.decodeResponse(to: asked, data, format: .archived)
        _ = try? WireCodec.decodeResponse(
            to: .zoneChanges(ZoneChanges(zones: [])), data, format: .archived)
        let request = try WireCodec.decodeRequest(
            path: "records/modify", method: "POST", body: data, format: .archived)
        let again = try WireCodec.encode(request, as: .archived)
        let read = try WireCodec.decodeRequest(
            path: again.path, method: again.method, body: again.body, format: again.format)
        // A number that is none equals nothing, but is spelled by the same bytes.
        guard try WireCodec.encode(read, as: .archived).body == again.body else {
            throw BrokenPromise(description: "a request is another one when it was sent on")
        }
        guard case .modifyRecords(let modify) = request else {
            throw BrokenPromise(description: "it became another request")
        }
        for record in modify.operations.map(\.record) { try store(record.fields) }
    }

    /// What a service keeps of fields it can read, and send on unread.
    private static func store(_ fields: RecordFields) throws {
        let stored = RecordArchive.encodeFields(fields)
        guard let passed = try? RecordArchive.passFields(stored), passed.keys == fields.keys,
            let read = try? RecordArchive.decodeFields(stored),
            RecordArchive.encodeFields(read) == stored
        else { throw BrokenPromise(description: "stored fields cannot be read") }
    }
}
