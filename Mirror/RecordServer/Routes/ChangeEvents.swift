internal import Foundation
internal import Platform
internal import RecordWire

/// The changes of a zone as server-sent events (HTML Living Standard, §9.2): each event is an
/// answer of `changes/zone`, and its id the token behind it, by which a client that was cut off
/// goes on.
final class ChangeEvents: Sendable {
    /// The path after the database.
    static let operation = "changes/stream"
    static let contentType = "text/event-stream"
    static let heartbeat = Data(":\n\n".utf8)
    /// By which a browser tells the id of the last event it has.
    private static let resumeHeader = "Last-Event-ID"

    private let zoneID: ZoneID
    private let resultsLimit: Int?
    private let token: Lock<String?>
    /// The page that was read before the answer began.
    private let first = Lock<Data?>(nil)

    /// What the head asks for. Throws BAD_REQUEST.
    init(_ request: HTTPRequest) throws(RecordError) {
        let query = request.query
        zoneID = ZoneID(
            zoneName: query["zoneName"] ?? ZoneID.defaultName,
            ownerRecordName: query["ownerRecordName"])
        token = Lock(request.headers[Self.resumeHeader] ?? query["syncToken"])
        guard let text = query["resultsLimit"] else {
            resultsLimit = nil
            return
        }
        guard let limit = Int(text), limit > 0 else {
            throw RecordError(.badRequest, "resultsLimit is a whole number above 0.")
        }
        resultsLimit = limit
    }

    /// Reads the first page, which is told also where it is empty: it has the token to go on from.
    /// Throws what refuses the zone.
    func begin(_ ask: (RecordRequest) throws -> RecordResponse) throws {
        let event = try event(of: page(ask))
        first.withLock { $0 = event }
    }

    /// What is to be sent next.
    func next(_ ask: (RecordRequest) throws -> RecordResponse) -> HTTPEvents.Piece {
        let begun = first.withLock { first in
            defer { first = nil }
            return first
        }
        if let begun { return .bytes(begun) }
        do {
            let page = try page(ask)
            guard RecordResponse.zoneChanges([page]).isNews else { return .nothing }
            return .bytes(try event(of: page))
        } catch {
            return .last(Self.refusal(error))
        }
    }

    /// The next page, as a question.
    var question: RecordRequest {
        .zoneChanges(
            ZoneChanges(zones: [
                ZoneChanges.Zone(
                    zoneID: zoneID, syncToken: token.withLock { $0 }, resultsLimit: resultsLimit)
            ]))
    }

    private func page(_ ask: (RecordRequest) throws -> RecordResponse) throws -> ZoneChangesReply {
        guard case .zoneChanges(let zones) = try ask(question), let page = zones.first else {
            throw RecordError(.internalError, "The service gave another answer than was asked for.")
        }
        if let failure = page.failure { throw failure }
        return page
    }

    /// JSON holds no line break between its members, so one line holds it all.
    private func event(of page: ZoneChangesReply) throws -> Data {
        let body = try WireCodec.encode(.zoneChanges([page]), to: question)
        token.withLock { $0 = page.syncToken ?? $0 }
        var event = Data("id: \(page.syncToken ?? "")\nevent: changes\ndata: ".utf8)
        event.append(body)
        event.append(Data("\n\n".utf8))
        return event
    }

    private static func refusal(_ error: any Error) -> Data {
        let error =
            error as? RecordError
            ?? RecordError(.internalError, "The service failed in a way of its own; ask again.")
        let body = (try? WireCodec.encode(error)) ?? Data("{}".utf8)
        return Data("event: error\ndata: ".utf8) + body + Data("\n\n".utf8)
    }
}
