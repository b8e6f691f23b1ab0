internal import MirrorEngine
internal import Stores

/// One record that the service will not take as it is, for those who read `status`.
struct RefusalLine {
    let recordName: String
    let reason: String
    /// What the object was called before it was deleted here; nil for anything but a deletion.
    let deleted: String?
    /// What the object is called that was edited here; nil for anything but an edit.
    let edited: String?

    static func all(of status: MirrorStatus?) -> [RefusalLine] {
        guard let status else { return [] }
        let deleted = Dictionary(
            status.refusedDeletions.map { ($0.recordName, "\($0.entityName)/p\($0.row.key)") },
            uniquingKeysWith: { one, _ in one })
        let edited = Dictionary(
            status.refusedEdits.map { ($0.recordName, "\($0.entityName)/p\($0.row.key)") },
            uniquingKeysWith: { one, _ in one })
        return status.refusals.map {
            RefusalLine(
                recordName: $0.recordName, reason: $0.reason, deleted: deleted[$0.recordName],
                edited: edited[$0.recordName])
        }
    }

    var text: String {
        let object =
            deleted.map { "\($0), deleted here" } ?? edited.map { "\($0), edited here" }
            ?? recordName
        return "\(object): \(reason)"
    }

    var json: JSON {
        [
            "record": .string(recordName), "deletedObject": JSON(deleted),
            "editedObject": JSON(edited),
            "reason": .string(reason),
        ]
    }
}
