internal import Foundation
internal import RecordService
internal import RecordWire

/// A path of the server, taken apart.
enum RoutePath {
    case health
    /// Whether the process lives, and whether it can do its work.
    case liveness
    case readiness
    case capabilities
    /// Takes the bytes of an asset; what it is for stands in the query.
    case assetUpload
    case assetFile
    case openAPI
    /// Where notices are waited for; the token stands in the query, which no log shows.
    case courier
    /// What a share's address shows in a browser.
    case sharePage(shortGUID: String)
    /// `/database/1/{container}/{environment}/{database}/{operation}` (SERVICE §1)
    case operation(String, RecordTarget)

    /// `path` as sent, percent-encoded. Throws a 404 for what is not here.
    init(_ path: String) throws {
        switch path {
        case AssetPath.upload:
            self = .assetUpload
            return
        case AssetPath.download:
            self = .assetFile
            return
        default: break
        }
        let words = path.utf8.split(separator: UInt8(ascii: "/")).map { word in
            let text = String(Substring(word))
            guard word.contains(UInt8(ascii: "%")) else { return text }
            return text.removingPercentEncoding ?? ""
        }
        switch words {
        case ["health"]: self = .health
        case [OperationName.liveness]: self = .liveness
        case [OperationName.readiness]: self = .readiness
        case ["capabilities"]: self = .capabilities
        case ["openapi.json"]: self = .openAPI
        case ["webcourier"]: self = .courier
        case let words where words.count == 2 && words[0] == "share":
            guard SharePage.isShortGUID(words[1]) else { throw RouteRefusal.notHere }
            self = .sharePage(shortGUID: words[1])
        case let words where Self.isOfTokens(words):
            let target = RecordTarget(container: words[2], environment: words[3])
            try RoutePath.check(target)
            self = .operation(words[4...].joined(separator: "/"), target)
        default:
            guard words.count > 5, words[0] == "database", words[1] == "1" else {
                throw RouteRefusal.notHere
            }
            let target = RecordTarget(
                container: words[2], environment: words[3], database: words[4])
            try RoutePath.check(target)
            self = .operation(words[5...].joined(separator: "/"), target)
        }
    }

    /// What requests of this path are counted as.
    var name: String {
        switch self {
        case .health: OperationName.health
        case .liveness: OperationName.liveness
        case .readiness: OperationName.readiness
        case .capabilities: OperationName.capabilities
        case .assetUpload: OperationName.assetUpload
        case .assetFile: OperationName.assetDownload
        case .openAPI: OperationName.openAPI
        case .courier: OperationName.courier
        case .sharePage: OperationName.sharePage
        case .operation(let operation, _): OperationName.of(operation)
        }
    }

    /// Tokens belong to no database; their path begins with `device` or, as documented, `database`.
    private static func isOfTokens(_ words: [String]) -> Bool {
        words.count == 6 && ["device", "database"].contains(words[0]) && words[1] == "1"
            && words[4] == "tokens"
    }

    static let courierPath = "/webcourier"
    static let publicDatabase = "public"
    static let databases = [publicDatabase, "private", "shared"]
    static let environments = ["development", "production"]

    private static func check(_ target: RecordTarget) throws {
        guard !target.container.isEmpty else { throw RouteRefusal.notHere }
        guard environments.contains(target.environment) else {
            throw RecordError(.badRequest, "The environment is development or production.")
        }
        guard databases.contains(target.database) else {
            throw RecordError(.badRequest, "The database is public, private or shared.")
        }
    }
}

/// A refusal whose HTTP status is not the one of its code.
struct RouteRefusal: Error {
    var status: Int
    var error: RecordError
    var headers: [(String, String)] = []

    static let notHere = RouteRefusal(
        status: 404,
        error: RecordError(
            .notFound,
            "There is nothing at this path; it is /database/1/{container}/{environment}/"
                + "{database}/{operation}, /capabilities, /openapi.json or /health."))

    static func methodNotAllowed(allowed: String) -> RouteRefusal {
        RouteRefusal(
            status: 405, error: RecordError(.badRequest, "This path takes \(allowed)."),
            headers: [("Allow", allowed)])
    }

    static let unknownEncoding = RouteRefusal(
        status: 415,
        error: RecordError(
            .badRequest, "A body comes plain, or with Content-Encoding gzip or zstd."),
        headers: [("Accept-Encoding", "zstd, gzip")])

    static let encodedAsset = RouteRefusal(
        status: 415,
        error: RecordError(.badRequest, "The bytes of an asset come as they are, not encoded."))

    static let partOfAsset = RouteRefusal(
        status: 400,
        error: RecordError(
            .badRequest,
            "The bytes of an asset come whole, without Content-Range; an upload that broke off "
                + "goes on by Upload-Offset."))

    static let anotherAsset = RouteRefusal(
        status: 412,
        error: RecordError(.badRequest, "The asset is not the one that If-Match names."))

    static func rangeNotSatisfiable(size: Int64) -> RouteRefusal {
        RouteRefusal(
            status: 416,
            error: RecordError(.badRequest, "The asset has \(size) bytes, and none of the range."),
            headers: [("Content-Range", "bytes */\(size)")])
    }
}
