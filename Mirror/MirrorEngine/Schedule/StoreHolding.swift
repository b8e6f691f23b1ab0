internal import Foundation
internal import SQLiteStore
internal import Stores

/// Whether the store that a process opened is still the one at its place, of the model that it was
/// opened with: who goes on with another one syncs nothing that anybody saves from then on, and
/// keeps those who could from doing it.
struct StoreHolding {
    private let store: MirroredStore
    /// nil for a store in memory.
    private let file: FileIdentity?

    init(_ store: MirroredStore) {
        self.store = store
        file = store.store.url.flatMap { FileIdentity(of: $0.path) }
    }

    /// Throws `StoreError` where another file stands at the store's place, or none.
    func expectPlace() throws {
        guard let file, let path = store.store.url?.path else { return }
        guard FileIdentity(of: path) == file else {
            throw StoreError(
                .cannotOpen,
                "Another file, or none, stands where the store was opened; open it anew.",
                fields: ["path": path])
        }
    }

    /// Why no later round can go better; nil where one may. Cost: an empty transaction.
    func end() -> StoreError? {
        do {
            try expectPlace()
        } catch {
            return error as? StoreError
        }
        do {
            try store.write { _ in }
            return nil
        } catch {
            guard let error = error as? StoreError,
                [.modelMismatch, .cannotOpen].contains(error.code)
            else { return nil }
            return error
        }
    }
}
