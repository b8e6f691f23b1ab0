internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// A line of a conflict log in the words of a story.
struct ConflictText {
    private let entry: ConflictEntry
    private let objects: StoryObjects

    init(_ entry: ConflictEntry, _ objects: StoryObjects) {
        self.entry = entry
        self.objects = objects
    }

    func sentence(on device: String) -> String {
        let name = objects.handle(named: entry.recordName) ?? String(entry.recordName.suffix(8))
        let values =
            "base \(text(entry.base)), local \(text(entry.local)), remote \(text(entry.remote))"
        let outcome = entry.winner == "waiting" ? "waits for a decision" : "kept \(entry.winner)"
        return
            "\(device) logged \(name).\(entry.property): \(outcome), by \(entry.rule) (\(values))"
    }

    private func text(_ value: FieldValue?) -> String {
        switch value {
        case nil: "nothing"
        case .string(let text)?: objects.handle(named: text) ?? StoryWriting.quoted(text)
        case .int64(let number)?: "\(number)"
        case .double(let number)?: StoryWriting.number(number)
        case .timestamp(let milliseconds)?:
            ISO8601DateFormatter().string(
                from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
        case .bytes(let data)?: "\(data.count) bytes"
        case .reference(let reference)?:
            objects.handle(named: reference.recordName) ?? String(reference.recordName.suffix(8))
        case .asset?, .list?, .location?, .encrypted?: "a value"
        }
    }
}
