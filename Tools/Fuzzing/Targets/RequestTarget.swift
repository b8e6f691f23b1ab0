internal import Foundation
internal import RecordService
internal import RecordWire

/// Bodies of requests: a line with the path after the database, then the body. What is understood
/// is asked of a service, and its answer read as a client reads it.
enum RequestTarget {
    static func ask(_ data: Data) throws {
        let world = try FuzzedService.borrow()
        let parts = data.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
        let path = String(decoding: parts.first ?? Data(), as: UTF8.self)
        let rest = parts.count > 1 ? parts[1] : Data()
        let body = world.filled(String(decoding: rest, as: UTF8.self))
        let request = try WireCodec.decodeRequest(
            path: path, method: "POST", body: Data(body.utf8))
        try readAgain(request)
        let answer = try world.service.handle(
            request, target: FuzzedService.target, caller: world.caller)
        let text = try WireCodec.encode(answer, to: request)
        do {
            _ = try WireCodec.decodeResponse(to: request, text)
        } catch {
            throw BrokenPromise(description: "a client cannot read the answer: \(error)")
        }
    }

    /// What was taken is taken again, as we spell it ourselves.
    private static func readAgain(_ request: RecordRequest) throws {
        let (path, method, body) = try WireCodec.encode(request)
        do {
            _ = try WireCodec.decodeRequest(path: path, method: method, body: body)
        } catch {
            throw BrokenPromise(description: "its own spelling is refused: \(error)")
        }
    }
}
