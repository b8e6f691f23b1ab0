internal import Foundation
internal import RecordWire
internal import Stores

/// Takes the large values out of records that are to be sent, and names them by their receipts.
final class AssetPacking {
    private let mirror: MirrorTransaction
    private let support: AssetSupport
    private let split: AssetSplit

    init(mirror: MirrorTransaction, support: AssetSupport) {
        self.mirror = mirror
        self.support = support
        split = AssetSplit(settings: mirror.settings)
    }

    /// What came of a record.
    struct Parcel {
        /// The record as it will stand: assets by content alone.
        var result: Record
        /// What has to be uploaded before the record can be sent.
        var uploads: [AssetUpload] = []
        /// Why the record cannot be sent at all as it is.
        var refusal: RecordError?
        /// Nobody knows whether the service takes assets.
        var isUndecided = false
    }

    /// Moves what does not fit out of `record`, which is written upon `base`.
    func pack(_ record: inout Record, of entry: RecordEntry, upon base: Record?) throws -> Parcel {
        guard support != .none else { return Parcel(result: record) }
        let layout = try mirror.layout(of: entry.row)
        let moved = split.split(&record.fields, of: layout, upon: base)
        var parcel = Parcel(result: record)
        guard !moved.isEmpty else { return parcel }
        guard case .upTo(let bytesMax) = support else {
            parcel.isUndecided = true
            return parcel
        }
        if let large = moved.first(where: { $0.asset.size ?? 0 > bytesMax }) {
            parcel.refusal = Self.tooLarge(large.field, bytesMax)
            return parcel
        }
        for value in moved {
            let upload = AssetUpload(
                recordName: entry.recordName, recordType: record.recordType,
                fieldName: value.field, row: entry.row, slot: value.slot, asset: value.asset)
            try address(upload, in: &record, &parcel)
        }
        return parcel
    }

    /// Names the assets of a version that is sent again by their receipts. What is not here as it
    /// was then goes by its content alone, which the service takes where it still has it.
    func address(_ record: inout Record, of entry: RecordEntry, _ row: Row) throws -> Parcel {
        var parcel = Parcel(result: record)
        guard record.hasAssets, case .upTo = support else { return parcel }
        let layout = try mirror.layout(of: row.id)
        for slot in layout.attributes.indices {
            guard let field = mirror.mapping.fieldNames(of: .attribute(slot), layout).asset,
                case .asset(let asset)?? = record.fields[field],
                AssetStandIn(asset)?.stands(for: row.attributes[slot]) == true
            else { continue }
            let upload = AssetUpload(
                recordName: entry.recordName, recordType: record.recordType, fieldName: field,
                row: row.id, slot: slot, asset: asset)
            try address(upload, in: &record, &parcel)
        }
        return parcel
    }

    private func address(
        _ upload: AssetUpload, in record: inout Record, _ parcel: inout Parcel
    ) throws {
        guard let asset = try mirror.ledger.uploaded(upload.asset) else {
            return parcel.uploads.append(upload)
        }
        record.fields[upload.fieldName] = .asset(asset)
    }

    private static func tooLarge(_ field: String, _ bytesMax: Int64) -> RecordError {
        RecordError(
            .limitExceeded,
            "The value of \(field) is larger than the \(bytesMax) bytes that the service takes of "
                + "an asset; make it smaller.")
    }
}
