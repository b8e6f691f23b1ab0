internal import SQLiteStore
internal import Stores

/// What a store's file was when somebody began to read it.
enum StoreFileWitness {
    case database(SQLiteStoreWitness)
    case file(GraphFileWitness)

    var database: SQLiteStoreWitness? {
        if case .database(let witness) = self { witness } else { nil }
    }

    var file: GraphFileWitness? {
        if case .file(let witness) = self { witness } else { nil }
    }
}
