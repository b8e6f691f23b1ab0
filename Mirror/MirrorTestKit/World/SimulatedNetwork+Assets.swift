internal import Foundation
internal import MirrorEngine
internal import RecordWire

/// Assets over the bad network: an upload is lost on its way or its receipt is, a download breaks
/// off, and the service is killed meanwhile.
extension SimulatedNetwork: AssetCarrier {
    var assetSupport: AssetSupport { service.assetSupport }

    func upload(_ bytes: Data, to address: String) -> Result<RecordAsset, any Error> {
        carryAsset(.assetUploaded) { try self.service.upload(bytes, to: address) }
    }

    func download(_ download: AssetDownload) -> Result<Void, any Error> {
        carryAsset(.assetFetched) {
            try self.service.content(of: download.asset).write(to: download.file, options: .atomic)
        }
    }
}
