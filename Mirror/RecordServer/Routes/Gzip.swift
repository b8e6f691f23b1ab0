internal import CZlib
internal import Foundation
internal import RecordWire

/// Bodies made smaller, and strangers' small bodies made whole within bounds.
enum Gzip {
    /// Below this the head of a packet weighs more than what is saved.
    static let bytesMin = 1_024
    /// Speed before size: the service's cores are shared by all its clients.
    private static let level: Int32 = 3
    /// What the largest record may need is free of it: a blank picture shrinks a thousandfold.
    private static let ratioMax = 200
    private static let freeBytes = 4 << 20
    /// Each piece costs something that its bytes do not tell, and may be empty; who compresses a
    /// large body piece by piece makes some hundreds.
    static let piecesMax = 10_000

    /// The body compressed; nil where it is short or would not shrink.
    static func compress(_ body: Data) -> Data? {
        guard body.count >= bytesMin else { return nil }
        var small = Data(count: diptych_gzip_bound(body.count))
        var count = small.count
        let status = small.withUnsafeMutableBytes { target in
            body.withUnsafeBytes { source in
                diptych_gzip(source.baseAddress, source.count, target.baseAddress, &count, level)
            }
        }
        guard status == Z_OK, count < body.count else { return nil }
        return small.prefix(count)
    }

    /// How far the body may grow.
    static func growthMax(of body: Data, bytesMax: Int) -> Int {
        min(bytesMax, max(freeBytes, body.count * ratioMax))
    }

    /// The members that the body is, one after another (RFC 1952 §2.2), decompressed. Stops as soon
    /// as it grows past `growthMax` bytes, or has more pieces than `piecesMax`.
    static func expand(_ body: Data, growthMax: Int) throws(RecordError) -> Expansion {
        var stream = z_stream()
        guard diptych_inflate_init(&stream, 15 + 16) == Z_OK else {
            throw RecordError(.internalError, "The body cannot be decompressed now; try again.")
        }
        defer { inflateEnd(&stream) }
        return body.withUnsafeBytes { inflateAll(&stream, $0, growthMax: growthMax) }
    }

    private static func inflateAll(
        _ stream: inout z_stream, _ source: UnsafeRawBufferPointer, growthMax: Int
    ) -> Expansion {
        let input = source.bindMemory(to: UInt8.self)
        stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.avail_in = UInt32(clamping: input.count)
        var whole = Data()
        var pieces = 0
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let status = room.withUnsafeMutableBufferPointer { buffer in
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(buffer.count)
                return inflate(&stream, Z_NO_FLUSH)
            }
            whole.append(contentsOf: room.prefix(room.count - Int(stream.avail_out)))
            if whole.count > growthMax { return .tooMuch }
            if status == Z_STREAM_END {
                if stream.avail_in == 0 { return .whole(whole) }
                pieces += 1
                guard pieces < piecesMax, inflateReset(&stream) == Z_OK else { return .broken }
                continue
            }
            let isStuck = stream.avail_in == 0 && stream.avail_out > 0
            guard status == Z_OK, !isStuck else { return .broken }
        }
    }
}
