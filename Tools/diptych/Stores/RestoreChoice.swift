internal import MirrorEngine
internal import SQLiteStore
internal import Stores

/// Which deleted objects are to come back.
enum RestoreChoice: Equatable {
    /// That of a line of the conflict log.
    case conflict(Int64)
    /// One whose deletion was refused: by what `status` calls it, or its record's name.
    case object(String)
    /// All whose deletion was refused.
    case refused

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

    func run(_ mirrored: MirroredStore) throws -> [RestoredObject] {
        switch self {
        case .conflict(let id): [try mirrored.restore(objectOfConflict: id)]
        case .object(let word):
            [try mirrored.restore(refusedDeletionOf: Self.recordName(word, mirrored))]
        case .refused: try mirrored.restoreRefusedDeletions()
        }
    }

    private static func recordName(_ word: String, _ mirrored: MirroredStore) throws -> String {
        let row = try ObjectName.row(word, mirrored.store.layout, nil)
        return try mirrored.refusedDeletions().first { $0.row == row }?.recordName ?? word
    }
}
