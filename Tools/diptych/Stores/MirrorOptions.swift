internal import Foundation
internal import MirrorEngine
internal import Platform
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// The options of verbs that work on a store's mirror.
enum MirrorOptions {
    static let service = Option("service", "URL", setting: true, "the record service's address")
    static let container = Option("container", "ID", setting: true, "the container on the service")
    static let tokenFile = Option(
        "token-file", "FILE", setting: true, "lines 'api: …' and 'user: …', or JSON")
    static let authorityFile = Option(
        "ca-file", "FILE", setting: true, "the authorities to trust (PEM), and no others")
    static let clientVersion = Option(
        "client-version", "VERSION", setting: true,
        "the app's version, such as 2.10: fields retired by it are not fetched")
    static let policy = Option(
        "policy", "RULE", setting: true, words: MergeRule.names,
        "who wins where both changed: \(MergeRule.names.joined(separator: ", "))")
    static let deletion = Option(
        "deletion", "RULE", setting: true, words: DeletionRule.allCases.map(\.rawValue),
        "a deletion against an edit: deleteWins or keepEdited")

    /// The rules that the arguments name; the model's own refine them.
    static func mergePolicy(_ arguments: Arguments) throws -> MergePolicy {
        var policy = MergePolicy()
        if let name = try arguments.choice(Self.policy, among: MergeRule.names),
            let rule = MergeRule(name: name)
        {
            policy.standard = rule
        }
        let words = DeletionRule.allCases.map(\.rawValue)
        if let name = try arguments.choice(deletion, among: words),
            let rule = DeletionRule(rawValue: name)
        {
            policy.deletion = rule
        }
        return policy
    }
}

extension MirroredStore {
    /// Takes note that the service of a mirrored store has another address.
    func moveService(to place: String) throws {
        try store.write { transaction in
            guard try Ledger.exists(in: transaction.connection) else { return }
            let ledger = Ledger(connection: transaction.connection, platform: .system)
            try ledger.set(.container, to: .text(place))
        }
    }
}

extension StoreAccess {
    /// Opens the store with its mirror.
    func openMirrored(
        policy: MergePolicy = MergePolicy(), zone: ZoneChoice, keys: SealingKeys? = nil,
        only selection: SelectionOption? = nil
    ) throws -> MirroredStore {
        try mirror(open(), policy: policy, zone: zone, keys: keys, only: selection)
    }

    /// The mirror of an open store. Throws, before it changes anything, for one of another database
    /// than the arguments name.
    func mirror(
        _ store: SQLiteRowStore, policy: MergePolicy, zone: ZoneChoice, keys: SealingKeys?,
        only selection: SelectionOption?
    ) throws -> MirroredStore {
        try MirroredStore(
            store: store, policy: policy, database: zone.database(of: store, name: name),
            zoneName: zone.zone(of: store, name: name),
            environment: zone.environment(of: store, name: name), keys: keys, platform: .system,
            selecting: selection?.source(store.layout.model) ?? .remembered)
    }
}
