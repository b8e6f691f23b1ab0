internal import CMicroHTTPD
internal import Dispatch
internal import Foundation
internal import Platform

/// Takes connections from a listening socket and gives each to the thread that has the fewest, of
/// those that are at work for nobody: who asks much holds up no newcomer.
///
/// Left to themselves the threads would take them as they wake, so that a few had nearly all:
/// requests then wait for one another though other threads are idle, and share no commit.
final class ConnectionAcceptor: @unchecked Sendable {
    // @unchecked: all is set up before the source runs; the rest belongs to the queue.
    private let socket: ListeningSocket
    private let threads: [ServerThread]
    private let daemon: HTTPDaemon
    private let queue = DispatchQueue(label: "record-server.accepting")
    private let source: any DispatchSourceRead
    private let ended = DispatchSemaphore(value: 0)
    private var isPaused = false
    /// Where the last one went.
    private var last = 0

    /// So many are taken before others of the queue have their turn.
    private static let atOnceMax = 64

    init(from socket: ListeningSocket, to threads: [ServerThread], of daemon: HTTPDaemon) {
        self.socket = socket
        self.threads = threads
        self.daemon = daemon
        source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.acceptThoseThatWait() }
        source.setCancelHandler { [ended] in ended.signal() }
        daemon.whenOpened.set { [weak self] in self?.goOn() }
        source.resume()
    }

    /// Ends: when it returns, none is given to the library any more. Once only.
    func stop() {
        daemon.whenOpened.set(nil)
        queue.sync {
            resume()
            source.cancel()
        }
        ended.wait()
    }

    /// Tries again where others had to be opened first, or there was no room for another file.
    func goOn() { queue.async { [weak self] in self?.resume() } }

    private func resume() {
        guard isPaused else { return }
        isPaused = false
        source.resume()
    }

    private func pause() {
        isPaused = true
        source.suspend()
    }

    private func acceptThoseThatWait() {
        for _ in 0..<Self.atOnceMax where !source.isCancelled {
            guard !daemon.hasNewcomers else { return pause() }
            guard acceptNext() else { return }
        }
    }

    /// Returns false where none waits, or none can be taken now.
    private func acceptNext() -> Bool {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let connection = diptych_accept(socket.descriptor, address, &size)
                guard connection >= 0 else { return mayGoOn(after: errno) }
                add(connection, address, size)
                return true
            }
        }
    }

    private func add(
        _ connection: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ size: socklen_t
    ) {
        guard daemon.mayAccept(address) else {
            close(connection)
            return
        }
        // The library closes what it does not take.
        if MHD_add_connection(leastBusy().library, connection, address, size) != .YES {
            daemon.turnedAway(address)
        }
    }

    /// Of those that have equally few the next one in turn.
    private func leastBusy() -> ServerThread {
        let loads = threads.map { ($0.isBusy ? 1 : 0, $0.connections) }
        let turns = (1...threads.count).map { (last + $0) % threads.count }
        last = turns.min { loads[$0] < loads[$1] } ?? last
        return threads[last]
    }

    private func mayGoOn(after error: Int32) -> Bool {
        switch error {
        case EINTR, ECONNABORTED, EPROTO: return true
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            pause()
            return false
        default: return false
        }
    }
}
