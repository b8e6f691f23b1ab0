internal import Foundation
internal import ObjectModel
internal import Stores

/// Stands in for the rows of a program's own store until it is loaded, and for those of a store
/// that was destroyed: it knows the entities, and refuses the rest.
final class UnopenedRows: HistorylessStore {
    let layout: ModelLayout
    let identifier: String

    private let wasOpen: Bool

    init(layout: ModelLayout) {
        self.layout = layout
        identifier = ""
        wasOpen = false
    }

    /// In the place of rows that are destroyed.
    init(after rows: any RowStore) {
        layout = rows.layout
        identifier = rows.identifier
        wasOpen = true
    }

    func metadata() throws -> [String: Any] { throw refusal }
    func setMetadata(_ metadata: [String: Any]) throws { throw refusal }
    func reserveKeys(entity: Int32, count: Int) throws -> [Int64] { throw refusal }
    func row(_ id: RowID) throws -> Row? { throw refusal }
    func rows(_ ids: [RowID]) throws -> [Row] { throw refusal }
    func rows(matching query: RowQuery) throws -> [Row] { throw refusal }
    func ids(matching query: RowQuery) throws -> [RowID] { throw refusal }
    func count(matching query: RowQuery) throws -> Int { throw refusal }
    func members(of owner: RowID, toMany slot: Int) throws -> [Link] { throw refusal }
    func save(_ changes: ChangeSet) throws -> SaveOutcome { throw refusal }
    var historyRefusal: StoreError { refusal }

    private var refusal: StoreError {
        StoreError(
            .cannotOpen,
            wasOpen
                ? "The store was destroyed; add it to a coordinator again and fetch anew."
                : "The store is not loaded yet; add it to a coordinator first.")
    }
}
