public import Foundation

/// Assets on the wire: values of fields, requests and answers of `assets/*`, and the answer to an
/// upload. (SERVICE §3 and §4)
extension JSONWriter {
    /// Writes the members of an asset into the innermost object.
    mutating func asset(_ file: RecordAsset) {
        member("fileChecksum", file.fileChecksum)
        member("size", file.size)
        member("downloadURL", file.downloadURL)
        member("referenceChecksum", file.referenceChecksum)
        member("wrappingKey", file.wrappingKey)
        member("receipt", file.receipt)
    }

    mutating func uploadAssets(_ upload: UploadAssets) {
        key("tokens")
        array(upload.tokens) { writer, token in
            writer.object {
                if !token.recordName.isEmpty { $0.member("recordName", token.recordName) }
                if !token.recordType.isEmpty { $0.member("recordType", token.recordType) }
                $0.member("fieldName", token.fieldName)
            }
        }
        member("zoneID", upload.zoneID)
    }

    mutating func rereferenceAssets(_ request: RereferenceAssets) {
        key("assets")
        array(request.assets) { writer, place in
            writer.object {
                $0.member("recordName", place.recordName)
                $0.member("fieldName", place.fieldName)
            }
        }
        member("zoneID", request.zoneID)
    }

    mutating func uploadAddresses(_ addresses: [AssetUploadAddress]) {
        key("tokens")
        array(addresses) { writer, address in
            writer.object {
                if !address.recordName.isEmpty { $0.member("recordName", address.recordName) }
                $0.member("fieldName", address.fieldName)
                $0.member("url", address.url)
            }
        }
    }

    mutating func assetResults(_ results: [AssetResult]) throws {
        key("assets")
        try array(results) { writer, result in
            try writer.object {
                switch result {
                case .asset(let asset): $0.asset(asset)
                case .failure(let error): try $0.error(error, numbersAsStrings: false)
                }
            }
        }
    }
}

extension WireObject {
    private static let assetKeys: [WireKey] = [
        "fileChecksum", "size", "downloadURL", "referenceChecksum", "wrappingKey", "receipt",
    ]

    /// A request's asset has to say which content it stands for.
    func asAsset() throws -> RecordAsset {
        try allow(Self.assetKeys)
        var file = RecordAsset()
        file.fileChecksum = try string("fileChecksum")
        file.size = try integer("size")
        file.downloadURL = try string("downloadURL")
        file.referenceChecksum = try string("referenceChecksum")
        file.wrappingKey = try string("wrappingKey")
        file.receipt = try string("receipt")
        guard isStrict else { return file }
        guard file.size ?? 0 >= 0 else { throw refusal("size", "is less than nothing") }
        guard file.receipt != nil || file.fileChecksum != nil else {
            throw refusal(
                "receipt", "is missing; send the asset to an address of assets/upload first")
        }
        return file
    }

    func uploadAssets() throws -> UploadAssets {
        try allow(["tokens", "zoneID"])
        let tokens = try required("tokens") {
            try objects($0) { entry in
                try entry.allow(["recordName", "recordType", "fieldName"])
                return UploadAssets.Token(
                    recordName: try entry.string("recordName") ?? "",
                    recordType: try entry.string("recordType") ?? "",
                    fieldName: try entry.required("fieldName", entry.string))
            }
        }
        return UploadAssets(tokens: tokens, zoneID: try zoneID())
    }

    func rereferenceAssets() throws -> RereferenceAssets {
        try allow(["assets", "zoneID"])
        let places = try required("assets") {
            try objects($0) { entry in
                try entry.allow(["recordName", "fieldName"])
                return RereferenceAssets.Place(
                    recordName: try entry.required("recordName", entry.string),
                    fieldName: try entry.required("fieldName", entry.string))
            }
        }
        return RereferenceAssets(assets: places, zoneID: try zoneID())
    }

    func uploadAddress() throws -> AssetUploadAddress {
        AssetUploadAddress(
            recordName: try string("recordName") ?? "",
            fieldName: try required("fieldName", string), url: try required("url", string))
    }

    func assetResult() throws -> AssetResult {
        if let error = try asError() { return .failure(error) }
        return .asset(try asAsset())
    }
}

extension WireCodec {
    /// Writes the answer to the bytes of an asset.
    public static func encode(uploaded asset: RecordAsset) -> Data {
        var writer = JSONWriter()
        writer.object {
            $0.key("singleFile")
            $0.object { $0.asset(asset) }
        }
        return writer.data
    }

    /// Reads the answer to the bytes of an asset. Throws UNEXPECTED_SERVER_RESPONSE when it is
    /// none.
    public static func decodeUploaded(_ body: Data) throws -> RecordAsset {
        try readAnswer(body) { body in
            try body.required("singleFile", body.object).asAsset()
        }
    }
}
