internal import Dispatch
internal import Foundation

/// Watches files by the kernel's word (inotify), and by looking at intervals where the kernel does
/// not tell: on network file systems, on other systems, and when it has no watches left.
///
/// Costs nothing while nobody writes, but for a look each second where the kernel does not tell.
public struct SystemFileWatcher: FileWatcher {
    private let hasKernel: Bool
    private let pollMilliseconds: Int

    public init() { self.init(hasKernel: true) }

    /// Without `hasKernel` it looks at intervals only.
    package init(hasKernel: Bool, pollMilliseconds: Int = 1000) {
        self.hasKernel = hasKernel
        self.pollMilliseconds = pollMilliseconds
    }

    public func watch(
        _ paths: [String], _ look: @escaping @Sendable () -> Bool
    ) -> any FileWatch {
        let watch = SystemFileWatch(look)
        let isTold = hasKernel && watch.listen(to: paths)
        if !isTold || paths.contains(where: Self.mayChangeUnseen) {
            watch.poll(everyMilliseconds: pollMilliseconds)
        }
        return watch
    }

    /// Whether other machines can write to the file, of which this machine's kernel says nothing.
    private static func mayChangeUnseen(_ path: String) -> Bool {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard let kind = MountTable.present.kind(of: folder) else { return false }
        return MountTable.isShared(kind) || kind.hasPrefix("fuse")
    }
}

/// Turns words of the kernel into looks: the first after a moment that gathers many words into one.
private final class SystemFileWatch: FileWatch, @unchecked Sendable {
    // @unchecked: `round` is touched on `queue` only; `isNoted`, `registration` and `timer` have
    // locks.
    private let queue = DispatchQueue(label: "org.diptych.watch")
    private let look: @Sendable () -> Bool
    private let isNoted = Lock(false)
    private let registration = Lock<Int?>(nil)
    private let timer = Lock<(any DispatchSourceTimer)?>(nil)
    private let isOver = Lock(false)
    private var round = 0

    private static let gatheringMilliseconds = 5
    private static let delaysMilliseconds = [20, 80, 300, 1200, 5000]

    init(_ look: @escaping @Sendable () -> Bool) { self.look = look }

    deinit { end() }

    func end() {
        isOver.withLock { $0 = true }
        if let id = registration.withLock({ $0.take() }) { Self.forget(id) }
        timer.withLock { $0.take() }?.cancel()
    }

    // MARK: Words

    /// Returns whether the kernel will tell.
    func listen(to paths: [String]) -> Bool {
        #if os(Linux)
            let id = Inotify.shared.listen(to: paths) { [weak self] in self?.note() }
            registration.withLock { $0 = id }
            return id != nil
        #else
            return false
        #endif
    }

    private static func forget(_ id: Int) {
        #if os(Linux)
            Inotify.shared.forget(id)
        #endif
    }

    func poll(everyMilliseconds interval: Int) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(
            deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval),
            leeway: .milliseconds(interval / 10))
        source.setEventHandler { [weak self] in
            guard let self, !self.isOver.withLock({ $0 }) else { return }
            _ = self.look()
        }
        timer.withLock { $0 = source }
        source.resume()
    }

    private func note() {
        let isFirst = isNoted.withLock { isNoted in
            defer { isNoted = true }
            return !isNoted
        }
        guard isFirst else { return }
        after(Self.gatheringMilliseconds) { watch in
            watch.isNoted.withLock { $0 = false }
            watch.round &+= 1
            watch.step(0, of: watch.round)
        }
    }

    /// Looks, and again later when nothing was found and no newer word came.
    private func step(_ index: Int, of round: Int) {
        guard round == self.round, !isOver.withLock({ $0 }), !look(),
            Self.delaysMilliseconds.indices.contains(index)
        else { return }
        after(Self.delaysMilliseconds[index]) { $0.step(index + 1, of: round) }
    }

    private func after(
        _ milliseconds: Int, _ work: @escaping @Sendable (SystemFileWatch) -> Void
    ) {
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            if let self { work(self) }
        }
    }
}
