internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Where ends of one-to-one relationships may not meet: at the rows that were written since all of
/// them did, by the store's own history, and at those which are linked with these.
///
/// Everybody who saves writes history, the mirror too. Where some of it was removed unread, or was
/// never looked at, every row counts.
struct UnmetEnds {
    private let layout: ModelLayout
    /// The newest change of the history that was looked at; nil where every row counts.
    private let seen: Int64?
    /// The newest change there is.
    let newest: Int64?

    init(_ mirror: MirrorTransaction) throws {
        layout = mirror.mapping.layout
        // One by one they are read at the ends of the table, together from all of it.
        let line = try mirror.store.connection.rows(
            "SELECT (SELECT min(Z_PK) FROM ACHANGE), (SELECT max(Z_PK) FROM ACHANGE)"
        ).first
        newest = line?[1].int64
        // What another user's devices decide is looked at anew each time.
        guard !mirror.mayHoldAnothers, let oldest = line?[0].int64, let newest,
            let seen = try mirror.ledger.setting(.oneToOnesSeen)?.int64,
            oldest <= seen + 1, newest >= seen
        else {
            self.seen = nil
            return
        }
        self.seen = seen
    }

    /// A condition, after AND, on the claims that may have rivals.
    func limitsClaims(of entity: EntityLayout, _ claim: String, in table: String) -> String {
        guard let written = written(entity) else { return "" }
        return " AND \(claim) IN (SELECT \(claim) FROM \(table) WHERE Z_PK IN \(written))"
    }

    /// A condition on the objects, named p, whose answers may lead elsewhere than to who claims
    /// them.
    func limitsAnswers(_ pair: OneToOnePair) -> String {
        guard let claimants = written(pair.claimEntity), let partners = written(pair.answerEntity)
        else { return "" }
        return " AND p.Z_PK IN (SELECT Z_PK FROM \(pair.answerTable) WHERE Z_PK IN \(partners) "
            + "UNION SELECT \(pair.claim.key) FROM \(pair.claimTable) WHERE Z_PK IN \(claimants) "
            + "UNION SELECT Z_PK FROM \(pair.answerTable) WHERE \(pair.answer.key) IN \(claimants))"
    }

    /// The same where a relationship is its own inverse.
    func limitsClaimants(of entity: EntityLayout, _ claim: String, in table: String) -> String {
        guard let written = written(entity) else { return "" }
        return " AND p.Z_PK IN (SELECT Z_PK FROM \(table) WHERE Z_PK IN \(written) "
            + "UNION SELECT Z_PK FROM \(table) WHERE \(claim) IN \(written))"
    }

    /// The keys of an entity's tree that were written, deleted ones among them; nil for all.
    private func written(_ entity: EntityLayout) -> String? {
        guard let seen else { return nil }
        let family = layout.family(of: entity).map { "\($0)" }.joined(separator: ", ")
        return "(SELECT ZENTITYPK FROM ACHANGE WHERE Z_PK > \(seen) AND ZENTITY IN (\(family)))"
    }
}

extension Ledger {
    /// Has the ends of all one-to-one relationships compared once the zone was read to its end.
    func compareAllEnds() throws {
        try set(.oneToOneCheck, to: .integer(1))
        try set(.oneToOnesSeen, to: .null)
    }
}
