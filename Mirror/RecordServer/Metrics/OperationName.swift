/// What requests are counted and logged as: few names, none of them a stranger's.
public enum OperationName {
    static let health = "health"
    static let liveness = "healthz"
    static let readiness = "readyz"
    static let metrics = "metrics"
    static let capabilities = "capabilities"
    static let openAPI = "openapi.json"
    static let courier = "webcourier"
    static let assetUpload = "asset upload"
    static let assetDownload = "asset download"
    static let sharePage = "share page"
    static let console = "console"
    /// What is nothing of the service's.
    public static let other = "other"

    /// Those by which others look whether the service is well.
    static let probes: Set = [health, liveness, readiness, metrics]

    /// Every name there is, sorted.
    public static let all = (named.union(operations)).sorted()

    /// The name of an operation of the protocol; `other` for what is none.
    static func of(_ path: String) -> String {
        switch path {
        case "users/current": "users/caller"
        case let path where operations.contains(path) || path == ChangeEvents.operation: path
        default: other
        }
    }

    private static let operations = Set(OpenAPIOperation.all.map(\.path))
    private static let named = probes.union([
        capabilities, openAPI, courier, assetUpload, assetDownload, sharePage, console, other,
        ChangeEvents.operation,
    ])
}
