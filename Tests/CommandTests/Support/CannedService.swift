import Foundation

/// A service of 127.0.0.1 that gives one body of JSON after another, each on a connection of its
/// own; instead of nil it closes the connection without an answer.
struct CannedService {
    let port: UInt16

    init(_ answers: [String?]) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, size) + listen(descriptor, 8)
                    + getsockname(descriptor, name, &size)
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: name.sin_port)
        let thread = Thread {
            for answer in answers {
                let peer = accept(descriptor, nil, nil)
                guard peer >= 0 else { break }
                Self.readRequest(from: peer)
                if let answer { Self.send(answer, to: peer) }
                close(peer)
            }
            close(descriptor)
        }
        thread.start()
    }

    private static func send(_ body: String, to peer: Int32) {
        let text = """
            HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """
        _ = Foundation.send(peer, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }

    /// To its end: closing with a part of it unread would cut the answer off.
    private static func readRequest(from peer: Int32) {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(peer, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
            guard let head = text.range(of: "\r\n\r\n") else { continue }
            let announced = text[..<head.lowerBound].lowercased()
                .components(separatedBy: "\r\n").first { $0.hasPrefix("content-length:") }
            let bytes = announced.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
            if text[head.upperBound...].utf8.count >= bytes { return }
        }
    }
}
