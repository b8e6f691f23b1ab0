package import Foundation
internal import ObjectModel
internal import Platform
package import RecordWire
internal import SQLiteStore
internal import Stores

/// Assets on their way in and out. (MERGE §7)
extension MirroredStore {
    /// The bytes to upload, mapped where they are in a file of their own; nil where the value was
    /// changed or deleted meanwhile.
    package func bytes(of upload: AssetUpload) throws -> Data? {
        try read { mirror in
            guard let row = try mirror.store.row(upload.row),
                row.attributes.indices.contains(upload.slot),
                let standIn = AssetStandIn(upload.asset),
                standIn.stands(for: row.attributes[upload.slot])
            else { return nil }
            return row.attributes[upload.slot].assetBytes
        }
    }

    /// Takes note that the service took an upload, and answered it with `asset`.
    package func keepReceipt(_ asset: RecordAsset, of upload: AssetUpload) throws {
        try write { try $0.ledger.keepReceipt(asset, of: upload.asset) }
    }

    /// Takes note of which content came under a service's own name for it. Cost: one pass over the
    /// content, outside of the transaction.
    package func keepName(of download: AssetDownload) throws {
        guard let name = download.asset.fileChecksum,
            let bytes = try? Data(contentsOf: download.file, options: .alwaysMapped)
        else { return }
        let content = AssetStandIn(of: bytes)
        let file = assets.file(of: content)
        guard file == download.file || rename(download.file.path, file.path) == 0 else { return }
        try write { try $0.ledger.keepAssetName(name, of: content.asset) }
    }

    /// The service takes the asset in no way: its record waits with the reason until it changes.
    package func refuse(_ upload: AssetUpload, _ error: RecordError) throws {
        try write { try $0.ledger.keepRefusal(of: upload.recordName, error) }
    }

    /// The assets that have to be here before some records are applied: not those that were
    /// downloaded already, nor those whose content an object here has.
    package func assetsToDownload(for records: [Record]) throws -> [AssetDownload] {
        try read { mirror in
            var found: [AssetDownload] = []
            var seen: Set<AssetStandIn> = []
            for record in records where !record.deleted {
                guard let layout = mirror.mapping.entity(of: record) else { continue }
                let entry = try mirror.ledger.entry(named: record.recordName)
                if let entry, entry.base?.recordChangeTag == record.recordChangeTag { continue }
                let row = try entry.flatMap { try mirror.store.row($0.row) }
                let named = try mirror.ledger.named(record)
                for slot in layout.attributes.indices {
                    let names = mirror.mapping.fieldNames(of: .attribute(slot), layout)
                    guard let field = names.asset,
                        case .asset(let asset)?? = record.fields[field],
                        case .asset(let known)?? = named.fields[field],
                        let standIn = AssetStandIn(known),
                        mirror.assets.bytes(of: standIn) == nil
                    else { continue }
                    let isHere = row.map {
                        $0.id.entity == layout.number && standIn.stands(for: $0.attributes[slot])
                    }
                    // Another record of the same content may need what this one has.
                    guard isHere != true, seen.insert(standIn).inserted else { continue }
                    found.append(
                        AssetDownload(asset: asset, file: mirror.assets.file(of: standIn)))
                }
            }
            guard !found.isEmpty else { return [] }
            mirror.assets.removeStale(at: settings.platform.clock.now())
            try mirror.assets.make()
            return found
        }
    }

    /// Lets go of downloaded contents whose records were applied, but not of what records need that
    /// are held back.
    func removeApplied(_ records: [Record]) throws {
        let carriers = records.filter(\.hasAssets)
        guard !carriers.isEmpty else { return }
        let (kept, named) = try read { mirror in
            let kept = try mirror.ledger.hasAside() ? mirror.ledger.keptRecords() : []
            return (Set(kept.map(\.recordName)), try carriers.map(mirror.ledger.named))
        }
        let (held, applied) = (
            named.filter { kept.contains($0.recordName) },
            named.filter { !kept.contains($0.recordName) }
        )
        assets.remove(
            Set(applied.flatMap(\.standIns)).subtracting(held.flatMap(\.standIns)))
    }
}
