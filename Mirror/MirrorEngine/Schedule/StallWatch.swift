internal import Foundation

/// Notices once that something waits for export for longer than any healthy sync takes, and anew
/// after nothing did.
struct StallWatch {
    private let store: MirroredStore
    private var isTold = false

    init(_ store: MirroredStore) { self.store = store }

    /// Since when something waits, where that is to be told now. A store that is busy is asked
    /// again at the next look.
    mutating func look(at now: Date) -> Date? {
        do {
            let since = try store.stalledSince(now)
            defer { isTold = since != nil }
            return isTold ? nil : since
        } catch {
            return nil
        }
    }
}
