internal import RecordWire
internal import Stores

/// Links that went with the objects they led to. Nobody cut them by hand, so that a deletion that
/// meets such an object meets no edit.
extension RecordImport {
    /// The state that was agreed on, as what befell the targets of its links left it in `state`:
    /// without the links whose targets are gone, and with the present names of those that became
    /// one with others. `isRemote` where `state` is the service's: what comes deleted with it is
    /// gone there already.
    func withLinksCut(
        _ agreed: ObjectState?, in state: ObjectState, isRemote: Bool = false
    ) throws -> ObjectState? {
        var nowhere = state
        nowhere.toOnes = state.toOnes.map { _ in nil }
        guard var base = try withLinksFollowed(agreed, state, nowhere) else { return nil }
        for (slot, link) in base.toOnes.enumerated() where state.toOnes[slot] == nil {
            guard let link, try isGone(link.recordName, isRemote: isRemote) else { continue }
            base.toOnes[slot] = nil
        }
        return base
    }

    /// An object that is to be kept whole, with the links that were cut with their targets.
    func uncut(_ state: ObjectState, upon agreed: ObjectState?) throws -> ObjectState {
        var whole = state
        for (slot, link) in (agreed?.toOnes ?? []).enumerated() where whole.toOnes[slot] == nil {
            guard let link, try isGone(link.recordName) else { continue }
            whole.toOnes[slot] = link
        }
        return whole
    }

    private func isGone(_ name: String, isRemote: Bool = false) throws -> Bool {
        if isRemote, deletionsAhead.names.contains(ExactName(name)) { return true }
        guard try mirror.ledger.row(named: name) == nil else { return false }
        if try mirror.ledger.knowsDeletion(of: name) { return true }
        if try mirror.ledger.entry(named: name)?.needsCloudDelete == true { return true }
        // It became one with another, which is gone.
        return try mirror.ledger.alias(of: name)?.key == 0
    }
}
