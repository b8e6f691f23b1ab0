internal import CMicroHTTPD
internal import Foundation

/// A TCP socket bound to an address of this machine. Closed by `close`, or by the daemon it is
/// given to.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    /// The real port, also where a free one was asked for.
    let port: UInt16

    /// Binds to a numeric `address` or a host name; port 0 takes a free one.
    init(address: String, port: UInt16) throws {
        let place = try ListeningSocket.resolve(address, port)
        let fields = ["address": address, "port": String(port)]
        let descriptor = socket(
            Int32(place.family),
            Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
                | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ListeningSocket.failure(errno, fields) }
        do {
            self.port = try ListeningSocket.bind(descriptor, to: place, fields)
        } catch {
            Foundation.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Refuses connections from now on; the descriptor stays open until `close`.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func close() {
        Foundation.close(descriptor)
    }

    private struct Place {
        var family: sa_family_t
        var bytes: [UInt8]
    }

    private static func resolve(_ address: String, _ port: UInt16) throws -> Place {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(address, String(port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0, let first = list?.pointee, let name = first.ai_addr else {
            throw ServerError(
                .badAddress,
                "The address to listen on is neither a numeric address nor a known host name; "
                    + "use one such as 127.0.0.1, :: or localhost.",
                fields: ["address": address])
        }
        let bytes = UnsafeRawBufferPointer(start: name, count: Int(first.ai_addrlen))
        return Place(family: name.pointee.sa_family, bytes: Array(bytes))
    }

    private static func bind(
        _ descriptor: Int32, to place: Place, _ fields: [String: String]
    ) throws -> UInt16 {
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        let bound = place.bytes.withUnsafeBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return -1 }
            let name = base.assumingMemoryBound(to: sockaddr.self)
            return Foundation.bind(descriptor, name, socklen_t(bytes.count))
        }
        guard bound == 0, listen(descriptor, 1_024) == 0 else { throw failure(errno, fields) }
        return try port(of: descriptor, fields)
    }

    private static func port(of descriptor: Int32, _ fields: [String: String]) throws -> UInt16 {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size)
            }
        }
        guard status == 0 else { throw failure(errno, fields) }
        // The port stands at the same place in IPv4 and IPv6 names, in network order.
        return withUnsafeBytes(of: &storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
    }

    private static func failure(_ number: Int32, _ fields: [String: String]) -> ServerError {
        var fields = fields
        fields["errno"] = String(number)
        return switch number {
        case EADDRINUSE:
            ServerError(
                .portInUse,
                "The port is in use by another process; stop that one or choose another port.",
                fields: fields)
        case EADDRNOTAVAIL:
            ServerError(
                .addressNotAvailable,
                "No interface of this machine has the address; "
                    + "listen on one it has, or on 0.0.0.0 for all.",
                fields: fields)
        case EACCES, EPERM:
            ServerError(
                .notPermitted,
                "The system does not let this user listen on the port; "
                    + "choose one above 1023 or grant the right to bind.",
                fields: fields)
        default:
            ServerError(
                .cannotListen,
                "The server cannot listen: \(String(cString: strerror(number))).", fields: fields)
        }
    }
}
