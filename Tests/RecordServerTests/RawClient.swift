import Foundation

/// A plain TCP connection, for tests that must send what no proper client sends.
final class RawClient {
    private let descriptor: Int32
    /// Whether the server ended the connection; false when it only kept silent.
    private(set) var wasClosed = false

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(.ECONNREFUSED) }
        var patience = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience,
            socklen_t(MemoryLayout<timeval>.size))
    }

    /// Processes that were started meanwhile may have the descriptor, too.
    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Sends all of it; false when the peer has gone.
    @discardableResult
    func send(_ text: String) -> Bool {
        send(Array(text.utf8))
    }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                Foundation.send(
                    descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads until the peer closes, or until `text` has come.
    func read(until text: String? = nil) -> String {
        var all = [UInt8]()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            if let text, String(decoding: all, as: UTF8.self).contains(text) { break }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            wasClosed = count == 0 || count < 0 && errno == ECONNRESET
            guard count > 0 else { break }
            all += buffer.prefix(count)
        }
        return String(decoding: all, as: UTF8.self)
    }
}
