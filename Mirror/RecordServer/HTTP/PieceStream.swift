internal import CMicroHTTPD
internal import Foundation

/// The body of one answer that comes piece by piece: the library asks for the next bytes when the
/// connection takes them, so a slow client lets no more come than it reads.
final class PieceStream: @unchecked Sendable {
    // @unchecked: belongs to the daemon thread that owns its connection, until the answer ends.
    private let pieces: HTTPPieces
    private var piece = Data()

    init(_ pieces: HTTPPieces) { self.pieces = pieces }

    /// How many bytes were written into `buffer`, or that no more come.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if piece.isEmpty {
            guard let next = try? pieces.next(), !next.isEmpty else { return endWithError }
            piece = next
        }
        let count = min(buffer.count, piece.count)
        piece.copyBytes(to: buffer, from: piece.startIndex..<piece.startIndex + count)
        piece = piece.dropFirst(count)
        return count
    }

    /// The answer as the library takes it, which keeps the stream until the connection ended it.
    func response() -> OpaquePointer? {
        let retained = Unmanaged.passRetained(self)
        let made = MHD_create_response_from_callback(
            UInt64(pieces.byteCount), Self.blockBytes, readPieces, retained.toOpaque(), endPieces)
        if made == nil { retained.release() }
        return made
    }

    private static let blockBytes = 64 << 10
}

/// The library's sign that the rest does not come: it closes the connection.
private let endWithError = -2

private let readPieces: MHD_ContentReaderCallback = { context, _, buffer, max in
    guard let context, let buffer else { return endWithError }
    return Unmanaged<PieceStream>.fromOpaque(context).takeUnretainedValue().read(
        into: UnsafeMutableRawBufferPointer(start: buffer, count: max))
}

private let endPieces: MHD_ContentReaderFreeCallback = { context in
    guard let context else { return }
    Unmanaged<PieceStream>.fromOpaque(context).release()
}
