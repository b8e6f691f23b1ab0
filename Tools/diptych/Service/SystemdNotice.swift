internal import Foundation

/// Tells systemd how a service of `Type=notify` does. Says nothing elsewhere.
struct SystemdNotice {
    private let path: String?

    init(_ environment: [String: String]) { path = environment["NOTIFY_SOCKET"] }

    enum State: String {
        case ready = "READY=1"
        case reloading = "RELOADING=1"
        case stopping = "STOPPING=1"
    }

    func tell(_ state: State) {
        guard let path, path.hasPrefix("/") || path.hasPrefix("@") else { return }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
        // A name that begins so belongs to no file; its first byte is 0.
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sa_family_t>.size + bytes.count
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let words = Array(state.rawValue.utf8)
        _ = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(
                    descriptor, words, words.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
    }
}
