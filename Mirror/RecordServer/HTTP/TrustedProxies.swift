internal import CMicroHTTPD
internal import Foundation

/// An address of the network, whole; one of IPv4 as IPv6 writes it (`::ffff:192.0.2.1`).
struct HostAddress: Hashable, Sendable {
    fileprivate let high: UInt64
    fileprivate let low: UInt64

    private static let mapped: UInt64 = 0xFFFF << 32

    private init(_ bytes: some Collection<UInt8>) {
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private init(version4 address: UInt32) {
        high = 0
        low = Self.mapped | UInt64(address)
    }

    /// A numeric address without port or brackets.
    init?(_ text: some StringProtocol) {
        var version4 = in_addr()
        var version6 = in6_addr()
        if inet_pton(AF_INET, String(text), &version4) == 1 {
            self.init(version4: UInt32(bigEndian: version4.s_addr))
        } else if inet_pton(AF_INET6, String(text), &version6) == 1 {
            self.init(withUnsafeBytes(of: &version6) { Array($0) })
        } else {
            return nil
        }
    }

    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address else { return nil }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let name = raw.assumingMemoryBound(to: sockaddr_in.self).pointee
            self.init(version4: UInt32(bigEndian: name.sin_addr.s_addr))
        case AF_INET6:
            var name = raw.assumingMemoryBound(to: sockaddr_in6.self).pointee.sin6_addr
            self.init(withUnsafeBytes(of: &name) { Array($0) })
        default: return nil
        }
    }

    fileprivate var isVersion4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// As limits count it.
    var client: ClientAddress { ClientAddress(prefix: isVersion4 ? low & 0xFFFF_FFFF : high) }
}

/// Addresses that begin alike, such as `10.0.0.0/8`, `fd00::/8` or one alone.
public struct AddressNetwork: Sendable, Hashable {
    private let first: HostAddress
    private let bits: Int

    /// nil for what is neither an address nor one with the number of its bits behind a slash.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = HostAddress(parts[0]) else { return nil }
        let most = first.isVersion4 ? 32 : 128
        var bits = most
        if parts.count > 1 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let given = Int(parts[1]), (0...most).contains(given)
            else { return nil }
            bits = given
        }
        self.first = first
        self.bits = bits + 128 - most
    }

    /// Whether an address, spelled in numbers, belongs to it.
    package func contains(numeric address: String) -> Bool {
        HostAddress(address).map(contains) ?? false
    }

    func contains(_ address: HostAddress) -> Bool {
        func differ(_ one: UInt64, _ other: UInt64, in bits: Int) -> Bool {
            bits > 0 && (one ^ other) >> (64 - UInt64(bits)) != 0
        }
        return !differ(first.high, address.high, in: min(bits, 64))
            && !differ(first.low, address.low, in: max(0, bits - 64))
    }
}

/// The proxies whose word counts on where a request comes from.
struct TrustedProxies: Sendable {
    let networks: [AddressNetwork]

    static let header = "X-Forwarded-For"
    /// A longer list was not made by proxies.
    private static let hopsMax = 32

    func trusts(_ address: HostAddress?) -> Bool {
        guard let address else { return false }
        return networks.contains { $0.contains(address) }
    }

    /// Where a request comes from whose connection comes from `peer`; nil where that is its
    /// sender itself. Each proxy adds who it heard it from at the end of the list, so the last
    /// that is not trusted is the sender; what stands before it is the sender's own word.
    func sender(behind peer: HostAddress?, _ headers: HTTPHeaders) -> HostAddress? {
        guard !networks.isEmpty, trusts(peer) else { return nil }
        let hops = headers.all(Self.header).flatMap { $0.split(separator: ",") }
        var sender: HostAddress?
        for hop in hops.suffix(Self.hopsMax).reversed() {
            guard let address = HostAddress(hop.trimmingCharacters(in: .whitespaces)) else {
                return sender
            }
            sender = address
            guard trusts(address) else { return sender }
        }
        return sender
    }
}
