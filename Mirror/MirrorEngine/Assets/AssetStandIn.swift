internal import COpenSSL
internal import Foundation
internal import Platform
internal import RecordWire
internal import Stores

/// The content of an asset by checksum and size: what stands in a state where the bytes are not at
/// hand, as in a base, which keeps no large values.
///
/// States compare values; a stand-in takes the place of one, as bytes that no other value has: they
/// begin with a mark that is drawn anew in each process, and none is ever kept in a file.
struct AssetStandIn: Hashable {
    /// SHA-256.
    let checksum: Data
    let size: Int64

    private static let mark = (0..<2).flatMap { _ in
        withUnsafeBytes(of: Environment.system.randomness.next()) { [UInt8]($0) }
    }
    private static let checksumBytes = 32

    /// nil for a value that is no stand-in.
    init?(_ value: AttributeValue) {
        guard case .data(let data) = value,
            data.count == Self.mark.count + Self.checksumBytes + 8,
            data.starts(with: Self.mark)
        else { return nil }
        let rest = data.dropFirst(Self.mark.count)
        checksum = Data(rest.prefix(Self.checksumBytes))
        size = Int64(bitPattern: rest.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// nil for an asset whose checksum is none that can be compared.
    init?(_ asset: RecordAsset) {
        guard let checksum = asset.fileChecksum.flatMap({ Data(base64Encoded: $0) }),
            checksum.count == Self.checksumBytes, let size = asset.size, size >= 0
        else { return nil }
        self.checksum = checksum
        self.size = size
    }

    private init(checksum: Data, size: Int64) {
        self.checksum = checksum
        self.size = size
    }

    /// The stand-in of some bytes. Cost: one pass over them.
    init(of bytes: Data) {
        var digest = [UInt8](repeating: 0, count: Self.checksumBytes)
        bytes.withUnsafeBytes { diptych_sha256($0.baseAddress, $0.count, &digest) }
        checksum = Data(digest)
        size = Int64(bytes.count)
    }

    /// What stands for a content of which a service's own name alone is known: no content's digest
    /// and no content's size, so that nothing counts as it, and always the same.
    static func unknown(_ name: String) -> AssetStandIn {
        AssetStandIn(checksum: AssetStandIn(of: Data("asset \(name)".utf8)).checksum, size: .max)
    }

    var value: AttributeValue {
        var data = Data(Self.mark)
        data.append(checksum)
        withUnsafeBytes(of: size.bigEndian) { data.append(contentsOf: $0) }
        return .data(data)
    }

    /// As a record names it.
    var asset: RecordAsset {
        var asset = RecordAsset()
        asset.fileChecksum = checksum.base64EncodedString()
        asset.size = size
        return asset
    }

    /// The name of a file with the content.
    var fileName: String { checksum.hexadecimal }

    /// Whether it stands for this value. Bytes of another size are not looked at.
    func stands(for value: AttributeValue) -> Bool {
        if let other = AssetStandIn(value) { return other == self }
        guard value.assetSize == size, let bytes = value.assetBytes else { return false }
        return AssetStandIn(of: bytes).checksum == checksum
    }
}

extension AttributeValue {
    /// The bytes of a value that may travel as an asset; a text as UTF-8.
    var assetBytes: Data? {
        switch self {
        case .data(let data): data
        case .text(let text): Data(text.utf8)
        default: nil
        }
    }

    var assetSize: Int64? {
        switch self {
        case .data(let data): Int64(data.count)
        case .text(let text): Int64(text.utf8.count)
        default: nil
        }
    }
}

extension ObjectState {
    /// Puts the values of another state in the place of stand-ins for them, so that equal contents
    /// are equal values.
    mutating func adopt(_ other: ObjectState?) {
        guard let other, other.attributes.count == attributes.count else { return }
        for slot in attributes.indices {
            guard let standIn = AssetStandIn(attributes[slot]),
                standIn.stands(for: other.attributes[slot])
            else { continue }
            attributes[slot] = other.attributes[slot]
        }
    }

    /// The state with the values of others in the place of stand-ins for them.
    package func adopting(_ others: ObjectState?...) -> ObjectState {
        var state = self
        for other in others { state.adopt(other) }
        return state
    }
}

extension Record {
    var hasAssets: Bool {
        guard fields.holdAssets else { return false }
        return fields.contains { if case .asset? = $0.value { true } else { false } }
    }

    /// The contents of its assets.
    var standIns: [AssetStandIn] {
        fields.compactMap { _, value in
            if case .asset(let asset)? = value { AssetStandIn(asset) } else { nil }
        }
    }

    /// Whether it names uploads of this device.
    var hasReceipts: Bool {
        guard fields.holdAssets else { return false }
        return fields.contains { _, value in
            if case .asset(let asset)? = value { asset.receipt != nil } else { false }
        }
    }

    /// Whether all its assets are uploads of this device; others go by their content alone.
    var isUploaded: Bool {
        guard fields.holdAssets else { return true }
        return fields.allSatisfy { _, value in
            if case .asset(let asset)? = value { asset.receipt != nil } else { true }
        }
    }

    /// The record with its assets by content alone: addresses and receipts have their time.
    var withoutAddresses: Record {
        guard hasAssets else { return self }
        var record = self
        for (name, value) in fields {
            guard case .asset(let asset)? = value else { continue }
            var bare = RecordAsset()
            bare.fileChecksum = asset.fileChecksum
            bare.size = asset.size
            record.fields[name] = .asset(bare)
        }
        return record
    }
}
