internal import CZstd
internal import Foundation

/// Makes bodies smaller for a service that takes zstd: smaller than gzip makes them, in a third of
/// the time.
enum Zstandard {
    private static let level: Int32 = 1

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
}
