import Foundation
import MirrorTransport
import RecordServer
import RecordWire
import Testing

/// Who says so sends and gets archived records; everybody else JSON.
@Suite struct ArchivedRecordsTests {
    private static let type = WireFormat.archived.mediaType

    private var request: RecordRequest {
        var record = Record(recordName: "a", recordType: "Note")
        record.fields = ["text": .string("hällo"), "gone": nil, "count": .int64(-7)]
        return .modifyRecords(
            ModifyRecords(operations: [RecordOperation(.create, record)], zoneID: nil))
    }

    private func answer(
        _ format: WireFormat, accepting accepted: String?, _ server: TestServer
    ) throws -> CurlAnswer {
        var call = server.post("records/modify", try WireCodec.encode(request, as: format).body)
        call.headers.append(("Content-Type", format.mediaType))
        if let accepted { call.headers.append(("Accept", accepted)) }
        return try server.client().perform(call)
    }

    private func record(_ answer: CurlAnswer) throws -> Record {
        let format = WireFormat(contentType: answer.headers["content-type"])
        guard
            case .records(let reply) = try WireCodec.decodeResponse(
                to: request, answer.body, format: format),
            case .record(let record)? = reply.results.first
        else { throw RecordError(.badRequest, "another answer") }
        return record
    }

    @Test func eachAskerGetsTheFormatThatItAcceptsWhateverItSent() throws {
        let server = try TestServer()
        var records: Set<Record> = []
        for sent in WireFormat.allCases {
            for accepted in [nil, "*/*", "application/json", "\(Self.type);q=0"] {
                let answer = try answer(sent, accepting: accepted, server)
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
                records.insert(try record(answer))
            }
            for accepted in [Self.type, "\(Self.type), application/json;q=0.5"] {
                let answer = try answer(sent, accepting: accepted, server)
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == Self.type)
                #expect(answer.headers["vary"] == "Accept")
                records.insert(try record(answer))
            }
        }
        #expect(records.count == 1)
        #expect(records.first?.fields["text"] == .string("hällo"))
    }

    @Test func aRefusalOfTheWholeRequestIsJSON() throws {
        let server = try TestServer()
        var call = server.post("records/modify", Data("DPRB\u{1}".utf8))
        call.headers.append(("Content-Type", Self.type))
        call.headers.append(("Accept", Self.type))
        let answer = try server.client().perform(call)
        #expect(answer.status == 400)
        #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
        #expect(try WireCodec.decodeError(answer.body).code == .badRequest)
        var other = server.post("records/lookup", Data(#"{"records":[]}"#.utf8))
        other.headers.append(("Content-Type", Self.type))
        #expect(try server.client().perform(other).status == 400)
    }
}
