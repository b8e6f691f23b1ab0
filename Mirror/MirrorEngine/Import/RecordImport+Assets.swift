internal import Foundation
internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Records whose values are assets.
extension RecordImport {
    /// Why a record waits whose asset is not here.
    static let missingAsset = RecordError(
        RecordError.Code(rawValue: "ASSET_MISSING"),
        "A large value of the record could not be fetched from the service; it is tried again in "
            + "the next round.")

    /// Puts the contents of assets into a record's values: those that the object has already, or
    /// downloaded ones. Returns false where one is not here; a stand-in stays in its place.
    func fill(_ state: inout ObjectState, _ entry: RecordEntry?) throws -> Bool {
        guard state.attributes.contains(where: { AssetStandIn($0) != nil }) else { return true }
        if let row = try entry.flatMap({ try mirror.store.row($0.row) }),
            row.id.entity == state.entity
        {
            state.adopt(
                ObjectState(entity: state.entity, attributes: row.attributes, toOnes: []))
        }
        let layout = mirror.mapping.layout.entity(state.entity)
        var isWhole = true
        for slot in state.attributes.indices {
            guard let standIn = AssetStandIn(state.attributes[slot]) else { continue }
            if let layout, let bytes = mirror.assets.bytes(of: standIn),
                let value = mirror.mapping.value(ofAsset: bytes, slot, layout)
            {
                state.attributes[slot] = value
            } else {
                isWhole = false
            }
        }
        return isWhole
    }

    /// Whether a content of the record did not come for a passing cause.
    func awaitsContent(_ record: Record) -> Bool {
        guard !outlook.awaited.isEmpty else { return false }
        return record.fields.values.contains { value in
            guard case .asset(let asset)? = value, let standIn = AssetStandIn(asset) else {
                return false
            }
            return outlook.awaited.contains(standIn.fileName)
        }
    }

    /// A record that has to wait for its assets is put aside and does not hold up the others.
    mutating func waitForAssets(of record: Record) throws {
        try mirror.ledger.keepRefusal(of: record.recordName, Self.missingAsset)
        try keepAside(record, .missingAsset)
        outcome.unknown += 1
    }
}
