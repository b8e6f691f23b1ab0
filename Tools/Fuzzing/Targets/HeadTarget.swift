internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// Whole requests of HTTP: method and target, headers, an empty line, and the body as it travels.
enum HeadTarget {
    private static let pieceBytes = 1_000

    static func send(_ data: Data) throws {
        let world = try FuzzedService.borrow()
        let end = data.range(of: Data("\n\n".utf8))
        let head = world.filled(
            String(decoding: data[..<(end?.lowerBound ?? data.endIndex)], as: UTF8.self))
        let body = end.map { Data(data[$0.upperBound...]) } ?? Data()
        var lines = head.split(separator: "\n", omittingEmptySubsequences: false)[...]
        let words = (lines.popFirst() ?? "").split(separator: " ", maxSplits: 1)
        let target = (words.count > 1 ? words[1] : "/").split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var headers = HTTPHeaders()
        for line in lines {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2 else { continue }
            headers.append(String(pair[0]), pair[1].trimmingCharacters(in: .whitespaces))
        }
        try answer(
            world,
            HTTPRequest(
                method: words.first.map(String.init) ?? "GET", path: String(target.first ?? "/"),
                query: HTTPQuery(target.count > 1 ? target[1] : ""), headers: headers,
                body: .bytes(body)))
    }

    private static func answer(_ world: FuzzedService, _ request: HTTPRequest) throws {
        guard case .bytes(let body) = request.body else { return }
        switch world.router.admit(request) {
        case .answer(let response): try check(response)
        case .read(_, let answer): try check(answer(request))
        case .signed(_, let answer): try check(answer(request, try digest(of: body)))
        case .stream(let stream):
            for start in stride(from: 0, to: body.count, by: pieceBytes) {
                let piece = Data(body[start..<min(body.count, start + pieceBytes)])
                guard let refusal = piece.withUnsafeBytes({ stream.take($0) }) else { continue }
                return try check(refusal)
            }
            try check(stream.finish())
        }
    }

    private static func digest(of body: Data) throws -> Data? {
        guard !body.isEmpty else { return nil }
        let hash = try RunningSHA256()
        try body.withUnsafeBytes { try hash.update($0) }
        return try hash.digest()
    }

    private static func check(_ outcome: HTTPOutcome) throws {
        switch outcome {
        case .response(let response): try check(response)
        case .wait(let wait):
            guard let response = wait.answer(true) else {
                throw BrokenPromise(description: "a request that waits has no last answer")
            }
            try check(response)
        case .events(let events):
            try check(events.head)
            _ = events.next()
        }
    }

    private static func check(_ response: HTTPResponse) throws {
        guard (200..<600).contains(response.status), response.status != 500 else {
            throw BrokenPromise(
                description: "it is answered \(response.status): "
                    + String(decoding: response.body, as: UTF8.self))
        }
        for (name, value) in response.headers.fields
        where !(name + value).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
            throw BrokenPromise(description: "the header \(name) has a control character")
        }
        guard response.status >= 400 else { return }
        guard response.headers["Content-Encoding"] == nil else { return }
        do {
            _ = try WireCodec.decodeError(response.body)
        } catch {
            throw BrokenPromise(description: "a refusal cannot be read: \(error)")
        }
    }
}
