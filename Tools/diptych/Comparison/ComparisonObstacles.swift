internal import MirrorEngine

/// Why records stay on their side whatever round runs, by their names.
struct ComparisonObstacles {
    /// What came and cannot be applied.
    let kept: [String: String]
    /// What the service does not take.
    let refused: [String: String]
    var all: [String: String] { kept.merging(refused) { kept, _ in kept } }

    init(_ ledger: Ledger) throws {
        kept = Dictionary(
            try ledger.keptRecords().map { ($0.recordName, Self.words($0.reason)) },
            uniquingKeysWith: { first, _ in first })
        let known = kept
        refused = Dictionary(
            try ledger.refusals().filter { known[$0.recordName] == nil }.map {
                ($0.recordName, "the service refused it, \($0.reason)")
            }, uniquingKeysWith: { first, _ in first })
    }

    private static func words(_ reason: KeptRecord.Reason) -> String {
        let why =
            switch reason {
            case .unknownEntity: "the store's model has no such entity"
            case .unknownRelationship: "the store's model has no such relationship"
            case .unreadableField: "a field does not fit the store's model"
            case .otherEntity: "an object of another entity is here under its name"
            case .incompleteGraph: "an object that it leads to has not come"
            case .missingAsset: "a large value of it could not be fetched"
            case .notSelected: "its entity is not selected"
            }
        return "it is kept aside: \(why)"
    }
}
