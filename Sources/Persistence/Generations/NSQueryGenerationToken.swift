public import Foundation
internal import Platform

/// A state of the data of a coordinator's stores, which contexts can read from while others save.
///
/// A SQLite store with a log (WAL, as stores are made) holds it in a reading transaction; stores of
/// other types, and SQLite stores in other journal modes, are read as they are. Stores that are
/// added later are not part of it.
///
/// The state is held as long as a context or a token refers to it; Apple's ends with the last
/// context. While it is, the store's log cannot be emptied and grows with each save: when it is
/// larger than 256 MB the next save ends the states that are held. Then, and when a store of it
/// leaves the coordinator, reading throws 134070, and faults stay faults until the context goes on
/// to another generation.
///
/// Queue: any; it never changes. Tokens are equal where they stand for the same state. Source:
/// Apple, NSQueryGenerationToken.
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// Nil for the current generation, and for one that is not known any more.
    let generation: QueryGeneration?
    private let number: UInt64

    /// The generation that is present when a context reads next.
    public class var current: NSQueryGenerationToken { present }

    private static let present = NSQueryGenerationToken(nil, number: 0)

    init(_ generation: QueryGeneration) {
        self.generation = generation
        number = Self.known.withLock { $0.number(of: generation) }
    }

    private init(_ generation: QueryGeneration?, number: UInt64) {
        self.generation = generation
        self.number = number
    }

    var isCurrent: Bool { number == 0 }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSQueryGenerationToken else { return false }
        guard let generation, let theirs = other.generation else { return number == other.number }
        return generation.isSame(as: theirs)
    }

    /// Equal tokens may have generations of different numbers.
    public override var hash: Int { isCurrent ? 0 : 1 }

    public override var description: String {
        "<NSQueryGenerationToken: \(isCurrent ? "current" : "\(number)")>"
    }

    // MARK: Archives

    public static var supportsSecureCoding: Bool { true }

    /// Writes which generation of this process it is: a state cannot be held in an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(Self.processName as NSString, forKey: Self.processKey)
        coder.encode(NSNumber(value: number), forKey: Self.numberKey)
    }

    /// The generation of the archive where this process still holds it; else a token that no
    /// context takes.
    public init?(coder: NSCoder) {
        guard
            let process = coder.decodeObject(of: NSString.self, forKey: Self.processKey),
            let number = coder.decodeObject(of: NSNumber.self, forKey: Self.numberKey)
        else { return nil }
        self.number = number.uint64Value
        let isOwn = process as String == Self.processName
        let known = isOwn ? Self.known.withLock { $0.generation(number.uint64Value) } : nil
        generation = known
    }

    private static let processKey = "process"
    private static let numberKey = "number"
    private static let processName = Environment.system.randomness.uuid().uuidString
    private static let known = Lock(KnownGenerations())
}

/// The generations that tokens were made of, without holding them.
private struct KnownGenerations {
    private struct Entry {
        var number: UInt64
        weak var generation: QueryGeneration?
    }

    private var entries: [Entry] = []
    private var last: UInt64 = 0

    mutating func number(of generation: QueryGeneration) -> UInt64 {
        if let known = entries.first(where: { $0.generation === generation }) {
            return known.number
        }
        entries.removeAll { $0.generation == nil }
        last += 1
        entries.append(Entry(number: last, generation: generation))
        return last
    }

    func generation(_ number: UInt64) -> QueryGeneration? {
        entries.first { $0.number == number }?.generation
    }
}
