internal import CZstd
internal import Foundation
internal import RecordWire

/// The sibling of `Gzip` that takes a third of its time, for clients that know it.
enum Zstandard {
    private static let level: Int32 = 1
    /// Eight megabytes, which every decoder has to bear (RFC 8878 §3.1.1.1.2), and no more: a
    /// frame of a few bytes may ask for two gigabytes.
    private static let windowLogMax: Int32 = 23

    /// The body compressed; nil where it is short or would not shrink.
    static func compress(_ body: Data) -> Data? {
        guard body.count >= Gzip.bytesMin else { return nil }
        var small = Data(count: ZSTD_compressBound(body.count))
        let count = small.withUnsafeMutableBytes { target in
            body.withUnsafeBytes { source in
                ZSTD_compress(
                    target.baseAddress, target.count, source.baseAddress, source.count, level)
            }
        }
        guard ZSTD_isError(count) == 0, count < body.count else { return nil }
        return small.prefix(count)
    }

    /// The frames that the body is, one after another (RFC 8878 §3), decompressed. Stops as soon as
    /// it grows past `growthMax` bytes, or has more pieces than `Gzip.piecesMax`.
    static func expand(_ body: Data, growthMax: Int) throws(RecordError) -> Expansion {
        guard let context = ZSTD_createDCtx() else {
            throw RecordError(.internalError, "The body cannot be decompressed now; try again.")
        }
        defer { ZSTD_freeDCtx(context) }
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLogMax)
        return body.withUnsafeBytes { expandAll(context, $0, growthMax) }
    }

    private static func expandAll(
        _ context: OpaquePointer, _ source: UnsafeRawBufferPointer, _ growthMax: Int
    ) -> Expansion {
        var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
        var whole = Data()
        var pieces = 0
        var room = [UInt8](repeating: 0, count: 128 << 10)
        while true {
            let (left, written) = room.withUnsafeMutableBytes { buffer in
                var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
                let left = ZSTD_decompressStream(context, &output, &input)
                return (left, output.pos)
            }
            guard ZSTD_isError(left) == 0 else { return .broken }
            whole.append(contentsOf: room.prefix(written))
            if whole.count > growthMax { return .tooMuch }
            if left == 0 { pieces += 1 }
            guard pieces <= Gzip.piecesMax else { return .broken }
            guard input.pos == input.size else { continue }
            if left == 0 { return .whole(whole) }
            if written < room.count { return .broken }
        }
    }
}
