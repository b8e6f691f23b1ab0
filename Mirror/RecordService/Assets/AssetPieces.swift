public import Foundation
internal import Platform
public import RecordWire

/// The bytes of an asset, or of a range of one, as they are to be had.
public enum AssetBody: Sendable {
    case file(AssetFile)
    /// They come through from a store of objects.
    case pieces(AssetPieces)
}

/// A range of an asset that passes through the service piece by piece, one in memory at a time.
///
/// Its bytes are those of the store: only a whole content can be checked against its name. Calls
/// come one by one, from any thread.
public final class AssetPieces: Sendable {
    typealias Fetching = @Sendable (_ rest: Range<Int64>) throws(RecordError) -> Data?

    private struct State {
        var rest: Range<Int64>
        /// One that was fetched and is still to be given.
        var ready: Data?
    }

    private let state: Lock<State>
    private let fetch: Fetching
    /// Given back with this object.
    private let place: PassingPlace

    init(_ range: Range<Int64>, keeping place: PassingPlace, _ fetch: @escaping Fetching) {
        state = Lock(State(rest: range))
        self.place = place
        self.fetch = fetch
    }

    /// Fetches the first piece. Returns false where there is no such content.
    func begin() throws(RecordError) -> Bool {
        guard let piece = try fetch(state.withLock { $0.rest }) else { return false }
        state.withLock { $0.ready = piece }
        return true
    }

    /// The next bytes, in order; empty at the end. Throws TRY_AGAIN_LATER where the store fails,
    /// ASSET_NOT_FOUND where it lost the object meanwhile.
    public func next() throws(RecordError) -> Data {
        let (rest, ready) = state.withLock { state in
            defer { state.ready = nil }
            return (state.rest, state.ready)
        }
        guard !rest.isEmpty else { return Data() }
        guard let piece = if let ready { ready } else { try fetch(rest) }, !piece.isEmpty else {
            throw AddressedAsset.isGone
        }
        state.withLock { $0.rest = (rest.lowerBound + Int64(piece.count))..<rest.upperBound }
        return piece
    }
}

/// One of the downloads that may pass through at once; given back when it ends.
final class PassingPlace: Sendable {
    private let giveBack: @Sendable () -> Void
    init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }
    deinit { giveBack() }
}

/// The content behind an address, of which no byte was read yet.
public struct AddressedAsset: Sendable {
    public let size: Int64
    /// Names the content.
    public let checksum: String
    /// Whose it is.
    public let userRecordName: String
    private let isHeld: @Sendable () throws(RecordError) -> Bool
    private let opening: @Sendable (Range<Int64>?) throws(RecordError) -> AssetBody?

    init(
        size: Int64, checksum: String, userRecordName: String,
        isHeld: @escaping @Sendable () throws(RecordError) -> Bool,
        opening: @escaping @Sendable (Range<Int64>?) throws(RecordError) -> AssetBody?
    ) {
        self.size = size
        self.checksum = checksum
        self.userRecordName = userRecordName
        self.isHeld = isHeld
        self.opening = opening
    }

    /// Looks whether it is there, for an answer without its bytes: none of them is fetched. Throws
    /// what `open` throws.
    public func look() throws(RecordError) {
        guard try isHeld() else { throw Self.isGone }
    }

    /// The whole, or a range of it. A file is given whole, and read where the range is. Throws
    /// ASSET_NOT_FOUND where it is gone, TRY_AGAIN_LATER where a store of objects fails.
    public func open(_ range: Range<Int64>?) throws(RecordError) -> AssetBody {
        guard let body = try opening(range) else { throw Self.isGone }
        return body
    }

    static let isGone = RecordError(.assetNotFound, "The asset is not there any more.")
}
