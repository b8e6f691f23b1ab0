/// `assets/upload`: asks for addresses that take the bytes of assets.
public struct UploadAssets: Hashable, Sendable {
    public struct Token: Hashable, Sendable {
        /// Empty where the client gives none.
        public var recordName: String
        public var recordType: String
        public var fieldName: String

        public init(recordName: String = "", recordType: String = "", fieldName: String) {
            self.recordName = recordName
            self.recordType = recordType
            self.fieldName = fieldName
        }
    }
    public var tokens: [Token]
    public var zoneID: ZoneID?

    public init(tokens: [Token], zoneID: ZoneID?) {
        self.tokens = tokens
        self.zoneID = zoneID
    }
}

/// Where the bytes of one asset are to be sent, by POST or PUT.
public struct AssetUploadAddress: Hashable, Sendable {
    public var recordName: String
    public var fieldName: String
    public var url: String

    public init(recordName: String, fieldName: String, url: String) {
        self.recordName = recordName
        self.fieldName = fieldName
        self.url = url
    }
}

/// `assets/rereference`: asks for values by which assets of records go into other records.
public struct RereferenceAssets: Hashable, Sendable {
    /// A field that holds an asset.
    public struct Place: Hashable, Sendable {
        public var recordName: String
        public var fieldName: String

        public init(recordName: String, fieldName: String) {
            self.recordName = recordName
            self.fieldName = fieldName
        }
    }
    public var assets: [Place]
    public var zoneID: ZoneID?

    public init(assets: [Place], zoneID: ZoneID?) {
        self.assets = assets
        self.zoneID = zoneID
    }
}

/// An asset that may be written into another record, or why there is none.
public enum AssetResult: Hashable, Sendable {
    case asset(RecordAsset)
    case failure(RecordError)
}
