internal import SQLiteStore
internal import Stores

/// The stores that a batch request goes to, which take it together: what one of them refuses, none
/// has taken.
struct BatchStores {
    /// In the order in which they are told of.
    let all: [NSPersistentStore]

    init(_ stores: [NSPersistentStore]) { all = stores }

    /// In the order in which they are written: those that can take back what they wrote first.
    var inWritingOrder: [NSPersistentStore] {
        all.filter(\.rowStore.takesBackSaves) + all.filter { !$0.rowStore.takesBackSaves }
    }

    /// Runs `body` within one transaction of each store that has such and may be written.
    ///
    /// They begin in the same order as those of saves, so that none waits for another one.
    func writing<Result>(_ body: () throws -> Result) throws -> Result {
        let files = all.filter { !$0.isReadOnly && $0.rowStore is SQLiteRowStore }
            .sorted { $0.identifier < $1.identifier }
        return try Self.within(files[...], body)
    }

    private static func within<Result>(
        _ files: ArraySlice<NSPersistentStore>, _ body: () throws -> Result
    ) throws -> Result {
        guard let rows = files.first?.rowStore as? SQLiteRowStore else { return try body() }
        return try rows.write { _ in try within(files.dropFirst(), body) }
    }
}
