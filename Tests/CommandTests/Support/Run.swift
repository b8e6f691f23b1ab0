import Foundation
import Testing

/// How a run of the command ended.
struct Run {
    let status: Int32
    let output: String
    let complaint: String

    /// The output's lines as JSON objects.
    var lines: [[String: Any]] {
        output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    /// The last line as a JSON object.
    var json: [String: Any] { lines.last ?? [:] }

    /// The error on standard error, as JSON.
    var error: [String: Any] {
        let line = complaint.split(separator: "\n").last { $0.hasPrefix("{\"error\"") } ?? ""
        let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return object?["error"] as? [String: Any] ?? [:]
    }

    var errorCode: String { error["code"] as? String ?? "" }
}

/// Waits until a condition comes true. So long that only one that never does ends it.
func until(_ condition: () throws -> Bool) throws {
    for _ in 0..<300_000 {
        if try condition() { return }
        usleep(2_000)
    }
    #expect(try condition())
}
