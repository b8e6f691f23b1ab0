#if os(Linux)
    internal import Dispatch
    internal import Foundation

    /// The kernel's word of writes to files: one descriptor for the whole process, since a user may
    /// have only some hundred of them. It stays open once somebody listened: one that closes with
    /// the last listener closes late on a busy machine, and stores that come and go meanwhile use
    /// up the user's share. Source: inotify(7).
    final class Inotify: @unchecked Sendable {
        // @unchecked: the state has a lock; the rest never changes.
        static let shared = Inotify()

        private struct Listener {
            var paths: [String]
            var notify: @Sendable () -> Void
        }

        private struct State {
            var descriptor: Int32 = -1
            var source: (any DispatchSourceRead)?
            var nextID = 1
            var listeners: [Int: Listener] = [:]
            /// Who listens, by the kernel's number of a file or folder.
            var watched: [Int32: Set<Int>] = [:]
        }

        private let state = Lock(State())
        private let queue = DispatchQueue(label: "org.diptych.inotify")

        private static let fileMask = UInt32(IN_MODIFY)
        /// A file may be made later, or put in the place of the one that was there.
        private static let folderMask = UInt32(IN_CREATE | IN_MOVED_TO)

        /// Calls `notify` on a queue of its own after writes to the files. Nil where the kernel has
        /// no watches left, or the folder cannot be read.
        func listen(to paths: [String], _ notify: @escaping @Sendable () -> Void) -> Int? {
            state.withLock { state in
                guard open(&state) else { return nil }
                let id = state.nextID
                state.nextID += 1
                state.listeners[id] = Listener(paths: paths, notify: notify)
                var isWhole = true
                for path in paths {
                    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
                    isWhole = Self.watch(folder, Self.folderMask, id, &state) && isWhole
                    isWhole =
                        (Self.watch(path, Self.fileMask, id, &state) || errno == ENOENT) && isWhole
                }
                if isWhole { return id }
                Self.forget(id, &state)
                return nil
            }
        }

        func forget(_ id: Int) { state.withLock { Self.forget(id, &$0) } }

        // MARK: Watches

        private static func watch(
            _ path: String, _ mask: UInt32, _ id: Int, _ state: inout State
        ) -> Bool {
            let number = inotify_add_watch(state.descriptor, path, mask)
            guard number >= 0 else { return false }
            state.watched[number, default: []].insert(id)
            return true
        }

        private static func forget(_ id: Int, _ state: inout State) {
            state.listeners[id] = nil
            for (number, listeners) in state.watched where listeners.contains(id) {
                let others = listeners.subtracting([id])
                state.watched[number] = others.isEmpty ? nil : others
                if others.isEmpty { inotify_rm_watch(state.descriptor, number) }
            }
        }

        private func open(_ state: inout State) -> Bool {
            guard state.descriptor < 0 else { return true }
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard descriptor >= 0 else { return false }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [unowned self] in self.read(descriptor) }
            source.resume()
            state.descriptor = descriptor
            state.source = source
            return true
        }

        // MARK: Events

        private struct Event {
            var number: Int32
            var mask: UInt32
            var name: String
        }

        private func read(_ descriptor: Int32) {
            var bytes = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let count = Glibc.read(descriptor, &bytes, bytes.count)
                guard count > 0 else { return }
                let events = Self.events(in: bytes[..<count])
                let called = state.withLock { Self.listeners(of: events, &$0) }
                for listener in called { listener.notify() }
            }
        }

        private static func events(in bytes: ArraySlice<UInt8>) -> [Event] {
            var events: [Event] = []
            bytes.withUnsafeBytes { bytes in
                var start = 0
                while start + 16 <= bytes.count {
                    let length = Int(
                        bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
                    let end = min(start + 16 + length, bytes.count)
                    let name = bytes[(start + 16)..<end].prefix { $0 != 0 }
                    events.append(
                        Event(
                            number: bytes.loadUnaligned(fromByteOffset: start, as: Int32.self),
                            mask: bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self),
                            name: String(decoding: name, as: UTF8.self)))
                    start = end
                }
            }
            return events
        }

        /// Those whom the events concern; files that appeared are watched from now on.
        private static func listeners(of events: [Event], _ state: inout State) -> [Listener] {
            var called: Set<Int> = []
            for event in events {
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                    called.formUnion(state.listeners.keys)
                } else if event.mask & UInt32(IN_IGNORED) != 0 {
                    state.watched[event.number] = nil
                } else if event.name.isEmpty {
                    called.formUnion(state.watched[event.number] ?? [])
                } else {
                    for id in state.watched[event.number] ?? [] {
                        let path = state.listeners[id]?.paths.first {
                            URL(fileURLWithPath: $0).lastPathComponent == event.name
                        }
                        guard let path else { continue }
                        _ = watch(path, fileMask, id, &state)
                        called.insert(id)
                    }
                }
            }
            return called.compactMap { state.listeners[$0] }
        }
    }
#endif
