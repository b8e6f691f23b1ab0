internal import Foundation
internal import SQLiteStore
internal import Stores

/// SQLite stores: opened read-only with the model they carry, or else with the sample model; all
/// that is in them is read.
enum SQLiteTarget {
    static func open(_ data: Data) throws {
        try ScratchFile.with(data) { url in
            _ = try SQLiteRowStore.metadata(at: url)
            let carried = try? SQLiteRowStore.cachedModel(at: url)
            var options = SQLiteStoreOptions()
            options.isReadOnly = true
            options.ignoresVersioning = true
            let store = try SQLiteRowStore(
                url: url, model: carried ?? SampleModel.make(), options: options)
            try StoreReading.readAll(store)
            _ = try store.history(after: 0, limit: 64)
            _ = try store.lastTransactionNumber()
        }
    }
}
