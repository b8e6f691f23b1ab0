import Foundation
import Platform

/// Passes bytes of TCP on to a port, and cuts the connection once so many came from the client.
/// Where it tunnels, clients ask for the way first, as of an HTTP proxy.
final class CuttingProxy: Sendable {
    let port: UInt16
    private let listener: Int32
    private let target: UInt16
    private let tunnels: Bool
    private let state = Lock(State())

    private struct State {
        /// Bytes of clients that may still pass, before one cut.
        var bytesLeft: Int?
        var passed = 0
    }

    init(to target: UInt16, tunnels: Bool = false) throws {
        self.target = target
        self.tunnels = tunnels
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = Self.loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let status = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, size) + listen(listener, 16)
                    + getsockname(listener, name, &size)
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: name.sin_port)
        let thread = Thread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else {
                    if client >= 0 { close(client) }
                    break
                }
                if self.tunnels { Self.answerConnect(client) }
                self.join(client)
            }
            close(listener)
        }
        thread.start()
    }

    /// The thread closes what it listens at: closed here, the number might be another's by the time
    /// it asks for the next connection.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Cuts the next connection over which so many more bytes of clients came.
    func cut(after bytes: Int) { state.withLock { $0.bytesLeft = bytes } }

    /// Bytes of clients that passed since this was last asked.
    func takePassed() -> Int {
        state.withLock { state in
            defer { state.passed = 0 }
            return state.passed
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        name.sin_port = port.bigEndian
        return name
    }

    /// Reads the head of a CONNECT, and lets its sender through.
    private static func answerConnect(_ client: Int32) {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), recv(client, &byte, 1, 0) == 1 {
            head.append(byte)
        }
        let answer = Array("HTTP/1.1 200 Connection established\r\nX-Way: open\r\n\r\n".utf8)
        _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
    }

    private func join(_ client: Int32) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = Self.loopback(target)
        let isJoined = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isJoined else {
            close(client)
            close(server)
            return
        }
        // Each way ends the other; the one that ends last closes both.
        let open = Lock(2)
        for (from, to, isOfClient) in [(client, server, true), (server, client, false)] {
            let thread = Thread { [self] in
                pass(from, to, isOfClient: isOfClient)
                shutdown(from, Int32(SHUT_RDWR))
                shutdown(to, Int32(SHUT_RDWR))
                let isLast = open.withLock { open in
                    open -= 1
                    return open == 0
                }
                guard isLast else { return }
                close(client)
                close(server)
            }
            thread.start()
        }
    }

    private func pass(_ from: Int32, _ to: Int32, isOfClient: Bool) {
        var room = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(from, &room, room.count, 0)
            guard count > 0 else { return }
            let isCut =
                isOfClient
                && state.withLock { state in
                    state.passed += count
                    guard let left = state.bytesLeft else { return false }
                    state.bytesLeft = left > count ? left - count : nil
                    return left <= count
                }
            var sent = 0
            while sent < count {
                let taken = room.withUnsafeBytes { bytes in
                    send(
                        to, bytes.baseAddress?.advanced(by: sent), count - sent,
                        Int32(MSG_NOSIGNAL))
                }
                guard taken > 0 else { return }
                sent += taken
            }
            if isCut { return }
        }
    }
}
