package import Foundation
package import MirrorEngine
internal import ObjectModel
internal import RecordService
package import RecordWire

/// The way of assets between devices and a service.
protocol AssetCarrier: AnyObject {
    /// What the service takes, as it publishes.
    var assetSupport: AssetSupport { get }
    func upload(_ bytes: Data, to address: String) -> Result<RecordAsset, any Error>
    func download(_ download: AssetDownload) -> Result<Void, any Error>
}

extension SimulatedService {
    package var assetSupport: AssetSupport {
        .upTo(service.limits.assets.bytesMax)
    }

    /// Takes the bytes of an asset at an address that it gave out.
    package func upload(_ bytes: Data, to address: String) throws -> RecordAsset {
        let upload = try service.beginUpload(
            key: Self.key(of: address), announced: Int64(bytes.count))
        try bytes.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws in
            try upload.take(bytes)
        }
        return try upload.finish()
    }

    /// The bytes of an asset that a record brought the address of.
    package func content(of asset: RecordAsset) throws -> Data {
        guard let address = asset.downloadURL else {
            throw RecordError(.assetNotFound, "The asset has no address to be had from.")
        }
        let (file, _) = try service.openAsset(key: Self.key(of: address))
        let handle = FileHandle(fileDescriptor: file.descriptor, closeOnDealloc: false)
        return try withExtendedLifetime(file) { try handle.readToEnd() ?? Data() }
    }

    /// The record with its assets by the digests of their contents, which a plain service does not
    /// tell.
    func withDigests(_ record: Record) throws -> Record {
        guard dialect == .plain else { return record }
        var record = record
        for (name, value) in record.fields {
            guard case .asset(var asset)? = value else { continue }
            let digest = SHA2.sha256([UInt8](try content(of: asset)))
            asset.fileChecksum = Data(digest).base64EncodedString()
            record.fields[name] = .asset(asset)
        }
        return record
    }

    private static func key(of address: String) -> String {
        String(address.split(separator: "=", maxSplits: 1).last ?? "")
    }
}
