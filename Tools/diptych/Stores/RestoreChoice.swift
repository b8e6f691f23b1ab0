internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// Which deleted objects are to come back, and which edits are to be taken back.
enum RestoreChoice: Equatable {
    /// That of a line of the conflict log.
    case conflict(Int64)
    /// One whose deletion or edit was refused: by what `status` calls it, or its record's name.
    case object(String)
    /// All whose deletion or edit was refused.
    case refused

    /// What came of it.
    struct Outcome {
        var objects: [RestoredObject] = []
        var edits: [RestoredEdit] = []
    }

    /// nil where none is asked for.
    init?(_ arguments: Arguments, one: Option, refused: Option) throws {
        guard let word = arguments.value(one) else {
            guard arguments.has(refused) else { return nil }
            self = .refused
            return
        }
        guard !arguments.has(refused) else {
            throw CommandError(
                "usage", "--\(one.name) and --\(refused.name) do not go together.",
                hint: "Give one of them.", status: .usage)
        }
        self = Int64(word).map(RestoreChoice.conflict) ?? .object(word)
    }

    func run(_ mirrored: MirroredStore) throws -> Outcome {
        switch self {
        case .conflict(let id):
            return Outcome(objects: [try mirrored.restore(objectOfConflict: id)])
        case .object(let word): return try Self.restore(word, mirrored)
        case .refused:
            // Objects first: what was edited may lead to them.
            let objects = try mirrored.restoreRefusedDeletions()
            return Outcome(objects: objects, edits: try mirrored.restoreRefusedEdits())
        }
    }

    private static func restore(_ word: String, _ mirrored: MirroredStore) throws -> Outcome {
        let row = try ObjectName.row(
            word, mirrored.store.layout, of: mirrored.store.identifier, nil)
        let deletions = try mirrored.refusedDeletions()
        if let deletion = deletions.first(where: { $0.row == row || $0.recordName == word }) {
            return Outcome(objects: [
                try mirrored.restore(refusedDeletionOf: deletion.recordName)
            ])
        }
        let name = try row.flatMap { try mirrored.recordName(of: $0) } ?? word
        return Outcome(edits: [try mirrored.restore(refusedEditOf: name)])
    }
}
