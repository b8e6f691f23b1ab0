internal import Foundation
internal import RecordWire

/// Records that came, while the assets that they need are fetched.
struct AssetLanding: Sendable {
    /// What is applied once the assets were fetched.
    enum Cargo: Sendable {
        case page(ZoneChangesReply, PageRequest)
        case records([Record], EpochLine?)
    }

    private var cargo: Cargo?
    /// What is still to be fetched, the next one last.
    private var downloads: [AssetDownload] = []
    /// What is fetched now.
    private(set) var current: AssetDownload?
    /// Names of records that waited for assets when the round began.
    private var waiting: [String] = []
    private var hasLookedUp = false
    /// Contents that did not come at first.
    private var retried: Set<String> = []
    /// The files of what the cargo needs and did not come for a passing cause.
    private var awaited: Set<String> = []

    private static let retriesMax = 5
    /// What a request may look up.
    private static let namesMax = 200

    /// Whether an asset is on its way.
    var isFetching: Bool { current != nil }

    /// Takes note of the records that wait for assets; they are tried once in a round.
    mutating func begin(waiting names: [String]) {
        if !hasLookedUp { waiting = names }
    }

    /// The names to look up now, as many as any service takes at a time; nil for none.
    mutating func takeWaiting() -> [String]? {
        guard !waiting.isEmpty else { return nil }
        hasLookedUp = true
        defer { waiting.removeFirst(min(Self.namesMax, waiting.count)) }
        return Array(waiting.prefix(Self.namesMax))
    }

    mutating func take(_ cargo: Cargo) { self.cargo = cargo }

    mutating func plan(_ downloads: [AssetDownload]) { self.downloads = downloads.reversed() }

    /// The next asset to fetch; nil when all were.
    mutating func next() -> AssetDownload? {
        current = downloads.popLast()
        return current
    }

    /// Whether what did not come is tried again: once for each, and a few times in a round.
    mutating func mayRetry() -> Bool {
        guard let checksum = current?.asset.fileChecksum, retried.count < Self.retriesMax else {
            return false
        }
        return retried.insert(checksum).inserted
    }

    /// The current one did not come for a passing cause.
    mutating func passOver() {
        if let file = current?.file { awaited.insert(file.lastPathComponent) }
    }

    /// Lets go of what came, to be applied or to be asked for anew.
    @discardableResult
    mutating func leave() -> (cargo: Cargo?, awaited: Set<String>) {
        defer { (cargo, awaited) = (nil, []) }
        (current, downloads) = (nil, [])
        return (cargo, awaited)
    }
}
