public import Foundation
internal import Stores

/// Asks for a part of the history, or removes one. Source: Apple, NSPersistentHistoryChangeRequest.
///
/// SQLite and in-memory stores keep history when opened with `NSPersistentHistoryTrackingKey`; a
/// file that has one goes on with it where the option is not given. Without `affectedStores` a
/// request is for every store of the coordinator that may keep history.
///
/// Queue: one at a time; set up anywhere, run on a context's. Running it throws 134301 where
/// history after the place asked for was removed, 134501 for a token of other stores, 134091 where
/// no store keeps history. Cost: in proportion to what is found or removed; with a `fetchRequest`,
/// see there.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    enum Bound {
        case token(NSPersistentHistoryToken?)
        case date(Date)
    }

    private(set) final var bound: Bound = .token(nil)
    private(set) final var isDeletion = false
    /// The form of the result.
    open var resultType: NSPersistentHistoryResultType = .transactionsAndChanges {
        didSet { hasResultType = true }
    }
    /// Whether somebody asked for a form, be it the one that is there anyway.
    private(set) final var hasResultType = false

    public required override init() { super.init() }

    private static func make(_ bound: Bound, isDeletion: Bool) -> Self {
        let request = self.init()
        request.bound = bound
        request.isDeletion = isDeletion
        if isDeletion { request.resultType = .statusOnly }
        return request
    }

    /// The transactions after a token; all of them for nil.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        make(.token(token), isDeletion: false)
    }

    /// The transactions after another one.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: false)
    }

    /// The transactions after a moment.
    open class func fetchHistory(after date: Date) -> Self { make(.date(date), isDeletion: false) }

    /// The transactions, or the changes with their transactions, that a request chooses; it is made
    /// with `NSPersistentHistoryTransaction.fetchRequest` or `NSPersistentHistoryChange`'s. Its
    /// predicate, sort order of transactions, offset and limit count. One over changes is answered
    /// with changes, unless a `resultType` is set: `.transactionsAndChanges` are the transactions
    /// of those changes, each with them alone.
    open class func fetchHistory(
        withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> Self {
        let request = make(.token(nil), isDeletion: false)
        request.fetchRequest = fetchRequest
        return request
    }

    /// What is chosen of the history besides its beginning or end; nil for all. A deletion ends
    /// before the first transaction that is not chosen, since a history has no gaps.
    ///
    /// Cost: the history after the beginning is read in pages and looked at in memory. Conditions
    /// that all must hold and that compare `token`, `transactionNumber` or `timestamp` with a value
    /// move the beginning of what is fetched.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// Removes the transactions before a token's; all of them for nil. Like all removals it ends
    /// before what a consumer has not seen; see
    /// `NSPersistentStoreCoordinator.setHistoryConsumer(_:lastSeen:)`.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        make(.token(token), isDeletion: true)
    }

    /// Removes the transactions before another one.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: true)
    }

    /// Removes the transactions before a moment.
    open class func deleteHistory(before date: Date) -> Self { make(.date(date), isDeletion: true) }

    /// The token the request was made with.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = bound { return token }
        return nil
    }
}
