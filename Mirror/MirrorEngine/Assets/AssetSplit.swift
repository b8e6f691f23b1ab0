internal import Foundation
internal import ObjectModel
package import RecordWire
package import Stores

/// How large what travels may be, and from which size on values are assets; the defaults of those
/// are Apple's measure.
package struct TravelSizes: Hashable, Sendable {
    /// Bytes that one export batch may hold.
    package var batchBytesMax = 1_572_864
    /// Bytes of one value above which it is an asset whatever else its record has.
    package var valueBytesMax = 700_000
    /// Bytes that the values of a record may have in all; of those that do not fit the largest are
    /// assets.
    package var recordBytesMax = 700_000
    /// Bytes of a value that travels sealed: it has to fit its record, and is refused above.
    package var sealedBytesMax = 900_000

    package init() {}
}

/// Decides which values of a record travel as assets: those that do not fit.
package struct AssetSplit {
    private let mapping: RecordMapping
    private let policy: MergePolicy
    private let sizes: TravelSizes

    /// Values smaller than this part of a record do not make room for others.
    private static let leastPart = 64

    package init(settings: MirrorSettings) {
        mapping = settings.mapping
        policy = settings.policy
        sizes = settings.sizes
    }

    /// A value that travels as an asset.
    package struct Moved {
        package var slot: Int
        package var field: String
        package var asset: RecordAsset
    }

    private struct Candidate {
        var slot: Int
        var field: String
        var plain: String
        var size: Int
        var mustMove: Bool
    }

    /// Moves large values among `fields`, which are written upon `base`, into asset fields. The
    /// same fields are always split alike.
    package func split(
        _ fields: inout RecordFields, of entity: EntityLayout, upon base: Record?
    ) -> [Moved] {
        var total = fields.reduce(0) { $0 + Self.size(of: $1.value) }
        let least = min(sizes.recordBytesMax, sizes.valueBytesMax)
        // What is small together needs no closer look.
        guard total > least || base != nil && total > least / Self.leastPart else { return [] }
        for (name, value) in base?.fields ?? [:] where fields[name] == nil {
            total += Self.size(of: value)
        }
        guard total > least else { return [] }
        var moved: [Moved] = []
        for candidate in candidates(fields, of: entity) {
            let makesRoom =
                total > sizes.recordBytesMax
                && candidate.size > sizes.recordBytesMax / Self.leastPart
            guard candidate.mustMove || makesRoom, let value = fields[candidate.plain] ?? nil,
                let bytes = Self.bytes(of: value)
            else { continue }
            total -= candidate.size
            let asset = AssetStandIn(of: bytes).asset
            fields[candidate.field] = .asset(asset)
            fields.removeValue(forKey: candidate.plain)
            if (base?.fields[candidate.plain] ?? nil) != nil {
                fields.updateValue(nil, forKey: candidate.plain)
            }
            moved.append(Moved(slot: candidate.slot, field: candidate.field, asset: asset))
        }
        return moved
    }

    /// Values that may move: those that must, then the largest first.
    private func candidates(
        _ fields: RecordFields, of entity: EntityLayout
    ) -> [Candidate] {
        let found = entity.attributes.indices.compactMap { slot -> Candidate? in
            let names = mapping.fieldNames(of: .attribute(slot), entity)
            let size = Self.size(of: fields[names.plain] ?? nil)
            guard let field = names.asset, size > 0 else { return nil }
            return Candidate(
                slot: slot, field: field, plain: names.plain, size: size,
                mustMove: size > bytesMax(of: slot, entity))
        }
        return found.sorted {
            ($0.mustMove ? 0 : 1, -$0.size, $0.slot) < ($1.mustMove ? 0 : 1, -$1.size, $1.slot)
        }
    }

    /// A rule that combines both sides' values needs the base, of which an asset leaves the
    /// checksum: such a value stays in its record as long as that has room.
    private func bytesMax(of slot: Int, _ entity: EntityLayout) -> Int {
        switch policy.rule(entity: entity.name, property: entity.attributes[slot].name) {
        case .text, .set, .custom: sizes.recordBytesMax
        default: sizes.valueBytesMax
        }
    }

    private static func size(of value: FieldValue?) -> Int {
        switch value {
        case .string(let text): text.utf8.count
        case .bytes(let data): data.count
        default: 0
        }
    }

    private static func bytes(of value: FieldValue) -> Data? {
        switch value {
        case .string(let text): Data(text.utf8)
        case .bytes(let data): data
        default: nil
        }
    }
}
