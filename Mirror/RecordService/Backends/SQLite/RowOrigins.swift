internal import RecordWire

/// Write IDs and replays as the text of a column. Neither holds a space: the service checks.
enum RowOrigins {
    static func text(_ ids: [String]) -> String? {
        ids.isEmpty ? nil : ids.joined(separator: " ")
    }

    static func writeIDs(_ text: String?) -> [String] {
        text?.split(separator: " ").map(String.init) ?? []
    }

    static func text(_ replays: [Replay]) -> String? {
        text(replays.map { "\($0.tag)>\($0.version ?? "")" })
    }

    static func replays(_ text: String?) -> [Replay] {
        writeIDs(text).compactMap { pair in
            let parts = pair.split(separator: ">", omittingEmptySubsequences: false)
            return parts.count == 2 ? Replay(tag: String(parts[0]), version: String(parts[1])) : nil
        }
    }
}
