internal import CMicroHTTPD
internal import Foundation
internal import Platform

/// One answer of events on its way: the library asks it for bytes as long as the connection takes
/// them, and sleeps where there are none.
final class EventStream: @unchecked Sendable {
    // @unchecked: belongs to the daemon thread that owns its connection, until the answer ends.
    private let events: HTTPEvents
    private let connection: OpaquePointer
    private let held: HeldRequests
    private let connections: ConnectionTable
    private let hold: BufferLedger.Hold
    private let ends: Date
    private let clock: any Clock
    private var piece = Data()
    private var offset = 0
    private var isOver = false
    private(set) var sentBytes = 0
    /// By what it hears of changes.
    private var listening: (any Sendable)?

    init(
        _ events: HTTPEvents, on connection: OpaquePointer, hold: BufferLedger.Hold,
        held: HeldRequests, connections: ConnectionTable, clock: any Clock
    ) throws {
        self.events = events
        self.connection = connection
        self.hold = hold
        self.held = held
        self.connections = connections
        self.clock = clock
        ends = clock.now().addingTimeInterval(held.limits.streamSecondsMax)
        let id = UInt(bitPattern: connection)
        listening = try events.listen { held.wake(id) }
    }

    /// Status and headers, for the log.
    var head: HTTPResponse { events.head }

    private var id: UInt { UInt(bitPattern: connection) }

    /// The library's question for bytes: how many were written into `buffer`; 0 where the
    /// connection sleeps now, -1 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            if offset < piece.count { return write(into: buffer) }
            hold.release()
            if isOver { return endOfEvents }
            let wake = held.turn(id, seconds: held.limits.heartbeatSeconds)
            if wake == .closed || clock.now() >= ends {
                isOver = true
                continue
            }
            take(events.next(), wake)
            if offset < piece.count || isOver { continue }
            // Who went away has no place among the listeners of its user any more.
            isOver = HeldRequests.isClosedByPeer(diptych_mhd_socket(connection))
            if isOver { continue }
            connections.enter(.held, id)
            if held.suspend(connection) { return 0 }
        }
    }

    private func take(_ next: HTTPEvents.Piece, _ wake: HeldRequests.Turn) {
        switch next {
        case .bytes(let bytes): piece = bytes
        case .nothing: piece = wake == .timeIsUp ? events.heartbeat : Data()
        case .last(let bytes):
            piece = bytes
            isOver = true
        }
        offset = 0
        // Nothing is lost with a stream that ends: the client goes on behind the last event it has.
        if !hold.grow(by: piece.count) {
            piece = Data()
            isOver = true
        }
        if !piece.isEmpty { connections.enter(.sending(bytes: piece.count), id) }
    }

    private func write(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, piece.count - offset)
        let start = piece.startIndex + offset
        piece.copyBytes(to: buffer, from: start..<start + count)
        offset += count
        sentBytes += count
        if offset == piece.count {
            piece = Data()
            offset = 0
        }
        return count
    }

    /// The answer as the library takes it, which keeps the stream until the connection ended it.
    func response() -> OpaquePointer? {
        let retained = Unmanaged.passRetained(self)
        let made = MHD_create_response_from_callback(
            .max, Self.blockBytes, readEvents, retained.toOpaque(), endEvents)
        if made == nil { retained.release() }
        return made
    }

    private static let blockBytes = 8 << 10
}

/// The library's sign that nothing more comes, which is a cast that Swift does not read.
private let endOfEvents = -1

private let readEvents: MHD_ContentReaderCallback = { context, _, buffer, max in
    guard let context, let buffer else { return endOfEvents }
    return Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue().read(
        into: UnsafeMutableRawBufferPointer(start: buffer, count: max))
}

private let endEvents: MHD_ContentReaderFreeCallback = { context in
    guard let context else { return }
    Unmanaged<EventStream>.fromOpaque(context).release()
}
