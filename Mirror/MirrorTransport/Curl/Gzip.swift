internal import CZlib
internal import Foundation

/// Makes bodies smaller for the way.
enum Gzip {
    /// Below this the head of a packet weighs more than what is saved.
    static let bytesMin = 1_024

    /// The body compressed; nil where it is short or would not shrink.
    static func compress(_ body: Data) -> Data? {
        guard body.count >= bytesMin else { return nil }
        var small = Data(count: diptych_gzip_bound(body.count))
        var count = small.count
        let status = small.withUnsafeMutableBytes { target in
            body.withUnsafeBytes { source in
                diptych_gzip(source.baseAddress, source.count, target.baseAddress, &count, 6)
            }
        }
        guard status == Z_OK, count < body.count else { return nil }
        return small.prefix(count)
    }
}
