internal import Foundation

/// The system's generator, unguessable. Any thread.
public struct SystemRandomness: Randomness {
    private static let pool = Lock(RandomPool())

    public init() {}

    public func next() -> UInt64 { Self.pool.withLock { $0.next() } }
}

/// Words of the system's generator that nobody has had yet: to ask the kernel for each by itself
/// takes longer than most of what one is drawn for. A process that forked and did not start another
/// program would share them with its parent; none here does.
private struct RandomPool {
    private var words: [UInt64] = []

    private static let bytesMax = 256

    mutating func next() -> UInt64 {
        if words.isEmpty { fill() }
        guard let word = words.popLast() else { return UInt64.random(in: .min ... .max) }
        return word
    }

    /// As many as one call gives.
    private mutating func fill() {
        let size = MemoryLayout<UInt64>.size
        words = [UInt64](unsafeUninitializedCapacity: Self.bytesMax / size) { buffer, count in
            let isFilled = getentropy(buffer.baseAddress, buffer.count * size) == 0
            count = isFilled ? buffer.count : 0
        }
    }
}
