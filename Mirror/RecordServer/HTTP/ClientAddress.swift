internal import CMicroHTTPD
internal import Foundation

/// Where a connection comes from: an address of IPv4, or the first 64 bits of one of IPv6, which is
/// what one customer of a network has.
package struct ClientAddress: Hashable, Sendable {
    private let bytes: UInt64

    /// Of no connection: a request made by hand.
    package static let none = ClientAddress(bytes: 0)

    private init(bytes: UInt64) { self.bytes = bytes }

    /// An address of IPv4, or the first 64 bits of one of IPv6.
    package init(prefix: UInt64) { bytes = prefix }

    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address else {
            self = .none
            return
        }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let name = raw.assumingMemoryBound(to: sockaddr_in.self).pointee
            bytes = UInt64(UInt32(bigEndian: name.sin_addr.s_addr))
        case AF_INET6:
            var name = raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr
            bytes = withUnsafeBytes(of: &name) { Self.prefix(Array($0)) }
        default: self = .none
        }
    }

    /// IPv4 inside IPv6 (`::ffff:1.2.3.4`) is IPv4; the loopback of both is one.
    private static func prefix(_ bytes: [UInt8]) -> UInt64 {
        let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 }
        let rest = isMapped ? bytes.suffix(4) : bytes.prefix(8)
        return rest.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
