public import Foundation

/// Carries requests to a record service and brings the answers back.
///
/// The engine speaks to a service through this alone; a transport, or a service in the same
/// process, stands behind it. Throws `RecordError` where the service refused the request as a
/// whole, and an error of the transport's own where no answer came. Every request may be sent
/// again: change tags make a repetition harmless.
public protocol RecordChannel: Sendable {
    func send(_ request: RecordRequest) async throws -> RecordResponse

    /// How the service speaks, as it publishes; asked before anything is sent. Throws as `send`.
    func dialect() async throws -> ServiceDialect
    /// Operations that one request may have, as the service publishes; nil where it does not, and
    /// the dialect's number counts. Throws as `send`.
    func operationsMax() async throws -> Int?
    /// For whom it asks, as the service tells it; nil for a channel that asks for nobody. Throws as
    /// `send`.
    func caller() async throws -> CallerReply?

    /// Bytes that it has moved so far, both ways; 0 for a channel that does not count them.
    var bytesMoved: Int64 { get }

    /// Bytes of the largest asset that the service takes; nil for a service that keeps no assets.
    func assetBytesMax() async throws -> Int64?
    /// Sends the bytes of an asset to an address of `assets/upload`, and returns what a record may
    /// name it by. Bytes that are mapped from a file are read while they are sent.
    func upload(_ bytes: Data, to address: String) async throws -> RecordAsset
    /// Brings the content of an asset into a file, which is whole and on the disk when this
    /// returns. Goes on where an earlier call was interrupted.
    func download(_ asset: RecordAsset, to file: URL) async throws
}

extension RecordChannel {
    /// A channel that leads to a service of this project, unless it says otherwise.
    public func dialect() async throws -> ServiceDialect { .extended }

    /// A channel that leads to a service that does not say.
    public func operationsMax() async throws -> Int? { nil }

    /// A channel that knows no users.
    public func caller() async throws -> CallerReply? { nil }

    /// A channel that does not count.
    public var bytesMoved: Int64 { 0 }
}

/// A channel to a service that keeps no assets.
extension RecordChannel {
    public func assetBytesMax() async throws -> Int64? { nil }

    public func upload(_ bytes: Data, to address: String) async throws -> RecordAsset {
        throw noAssets
    }

    public func download(_ asset: RecordAsset, to file: URL) async throws { throw noAssets }

    private var noAssets: RecordError {
        RecordError(.assetNotFound, "The way to the service carries no assets.")
    }
}
