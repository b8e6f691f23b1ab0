package import Foundation
package import RecordWire
package import Stores

/// What is known of a service's assets.
package enum AssetSupport: Hashable, Sendable {
    /// It could not be asked: what needs an asset waits.
    case unknown
    /// It keeps none: all values travel in records.
    case none
    /// It takes assets of up to so many bytes.
    case upTo(Int64)
}

/// A value that has to be with the service before its record is sent.
package struct AssetUpload: Hashable, Sendable {
    package var recordName: String
    package var recordType: String
    package var fieldName: String
    /// Where the value is.
    package var row: RowID
    package var slot: Int
    /// The content by checksum and size.
    package var asset: RecordAsset
}

/// An asset that has to be here before its record is applied.
package struct AssetDownload: Hashable, Sendable {
    /// With the address it is to be had from.
    package var asset: RecordAsset
    /// Where it goes.
    package var file: URL
}

extension AssetUpload {
    var token: UploadAssets.Token {
        UploadAssets.Token(recordName: recordName, recordType: recordType, fieldName: fieldName)
    }
}
