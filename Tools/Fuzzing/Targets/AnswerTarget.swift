internal import Foundation
internal import RecordWire

/// Answers as a device reads them, of a service that is none of ours or was tampered with: a line
/// with the path that was asked, then the body. What is read is spelled, and reads as the same.
enum AnswerTarget {
    static func read(_ data: Data) throws {
        let parts = data.split(
            separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(decoding: parts.first ?? Data(), as: UTF8.self)
        let body = parts.count > 1 ? Data(parts[1]) : Data()
        guard let request = try asked.get()[path] else {
            let error = try WireCodec.decodeError(body)
            _ = try WireCodec.decodeError(WireCodec.encode(error))
            return
        }
        let answer = try WireCodec.decodeResponse(to: request, body)
        let spelled = try WireCodec.encode(answer, to: request)
        let again: RecordResponse
        do {
            again = try WireCodec.decodeResponse(to: request, spelled)
        } catch {
            throw BrokenPromise(description: "an answer that was read is refused: \(error)")
        }
        guard try WireCodec.encode(again, to: request) == spelled else {
            throw BrokenPromise(description: "an answer is another one when it was read again")
        }
    }

    /// A request of each path, by which its answer is read.
    private static let asked = Result {
        var asked: [String: RecordRequest] = [:]
        for (path, body) in bodies {
            asked[path] = try WireCodec.decodeRequest(
                path: path, method: "POST", body: Data(body.utf8))
        }
        return asked
    }

    private static let bodies = [
        "records/modify": #"{"operations":[]}"#,
        "records/query": #"{"query":{"recordType":"T"}}"#,
        "changes/zone": #"{"zones":[{"zoneID":{"zoneName":"z"}}]}"#,
        "changes/database": "{}",
        "zones/list": "",
        "subscriptions/list": "",
        "tokens/create": #"{"apnsEnvironment":"development"}"#,
        "users/caller": "",
        "users/discover": #"{"lookupInfos":[]}"#,
        "records/resolve": #"{"shortGUIDs":[]}"#,
        "assets/upload": #"{"tokens":[{"fieldName":"a"}]}"#,
        "assets/rereference": #"{"assets":[]}"#,
    ]
}
