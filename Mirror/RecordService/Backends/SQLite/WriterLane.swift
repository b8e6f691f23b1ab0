internal import Dispatch

/// The queue on which one file is written. Rows in memory have one lane for all, which lets a
/// transaction in one reach another.
final class WriterLane: Sendable {
    private let queue = DispatchQueue(label: "record-service.writer")
    private static let current = DispatchSpecificKey<ObjectIdentifier>()

    init() { queue.setSpecific(key: Self.current, value: ObjectIdentifier(self)) }

    func sync<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard DispatchQueue.getSpecific(key: Self.current) != ObjectIdentifier(self) else {
            return try body()
        }
        return try queue.sync(execute: body)
    }

    func later(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}
