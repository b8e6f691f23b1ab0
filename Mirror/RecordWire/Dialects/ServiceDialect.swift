/// How a service speaks: with this project's extensions, or as CloudKit Web Services runs. A client
/// learns it from what the service publishes. (SERVICE §10)
public enum ServiceDialect: String, Hashable, Sendable, CaseIterable {
    /// With all extensions that the engine makes use of.
    case extended
    /// Without any.
    case plain

    /// The names under which a service publishes what the engine makes use of.
    public static let neededExtensions: Set<String> = [
        "epochs", "serverRecord", "tokensInHeaders", "waitSeconds", "writeID",
    ]

    /// The dialect of a service that publishes these extensions.
    public init(publishing extensions: some Sequence<String>) {
        self = Self.neededExtensions.isSubset(of: extensions) ? .extended : .plain
    }

    /// Bytes of one asset, where the service does not say: 50 MB with CloudKit; nil for none.
    public var assetBytesMax: Int64? { self == .plain ? 50_000_000 : nil }

    /// Operations, names or records of one request or answer, where the service does not say.
    public var operationsMax: Int {
        switch self {
        case .extended: 400
        case .plain: 200
        }
    }
}
